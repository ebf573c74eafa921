import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Written {
  /** of the files, without an ending */
  name: string;
  markdown: string;
  report: object;
}

/** @returns the text for whoever waits at the terminal */
export function write(directory: string, { name, markdown, report }: Written): string {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, name);
  writeFileSync(`${file}.md`, markdown);
  writeFileSync(`${file}.json`, `${JSON.stringify(report, null, 2)}\n`);
  return `${markdown}\nWritten to ${file}.md and .json\n`;
}
