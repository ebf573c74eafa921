import { expect } from 'vitest';
import { snippetsOf } from './page-program.js';

/** What differs from run to run: ids, tokens, secrets, times, codes, ports, and the head of a line of the log. */
const VARYING = [
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b(?:=\d+)?/g,
  /\beyJ[\w.-]+/g,
  /(?<=\bac[sk]_)[\w-]+/g,
  /\b\d{4}-\d\d-\d\dT[\d:.]+Z/g,
  /\b1[78]\d{8}\b/g,
  /\b[0-9A-Z]{5}-[0-9A-Z]{5}\b/g,
  /(?<=127\.0\.0\.1:)\d+/g,
  /\[[\d:.]{12}\](?= INFO)|(?<=INFO \()\d+/g,
  /\b\d+(?= ms\b)/g,
  /\b019a…|\beyJ…|(?<=\bac[sk]_)…/g,
];
const VARIES = '<varies>';

/** The output of a page that begins with these words; test/reference/outputs.spec.ts finds the calls by both. */
export function outputOf(page: string, start: string): string {
  const [output, another] = ['', 'json'].flatMap((language) =>
    snippetsOf(page, language).filter((text) => text.startsWith(start)),
  );
  if (output === undefined || another !== undefined) throw new Error(`${page}: not one output with ${start}`);
  return output;
}

/** In an output of a page, `…` is any text of its line, or any lines where it stands alone, and a line may go on indented. */
export function expectPrinted(printed: string, output: string): void {
  const [actual, shown] = [shapeOf(printed), shapeOf(output)];
  const pattern = shown
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    .replaceAll('"…"', '"[^"\\n]*"')
    .replaceAll(/^…$/gm, '[^]*?')
    .replaceAll('…', '.*?');
  if (!new RegExp(`^${pattern}$`).test(actual)) expect(actual).toBe(shown);
}

function shapeOf(text: string): string {
  const joined = text.trim().replaceAll(/\n(?:\s+|(?=\}))/g, '');
  const lines = joined.split('\n').map((line) => {
    try {
      return JSON.stringify(JSON.parse(line));
    } catch {
      return line;
    }
  });
  return VARYING.reduce((shape, form) => shape.replaceAll(form, VARIES), lines.join('\n'));
}
