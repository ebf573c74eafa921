import ts from 'typescript';
import { codeMistakes } from './code-mistakes.ts';
import type { Mistake } from './mistake.ts';
import { sqlMistakes } from './sql-mistakes.ts';

export interface Mutant extends Mistake {
  /** from 1 */
  line: number;
  /** the lines that differ, as they are and as they would be */
  before: string[];
  after: string[];
}

/** In the order of their lines, without duplicates. */
export function mutantsOf(fileName: string, source: string): Mutant[] {
  const file = ts.createSourceFile(fileName, source, ts.ScriptTarget.Latest, true);
  const mistakes = new Map<string, Mistake>();
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isInterfaceDeclaration(node)) return;
    for (const mistake of [...codeMistakes(node, file), ...sqlMistakes(node, file)]) {
      mistakes.set(`${mistake.start} ${mistake.end} ${mistake.text}`, mistake);
    }
    node.forEachChild(visit);
  };
  visit(file);
  return [...mistakes.values()]
    .map((mistake) => describe(mistake, source))
    .toSorted((one, other) => one.start - other.start);
}

export function apply({ start, end, text }: Mistake, source: string): string {
  return source.slice(0, start) + text + source.slice(end);
}

function describe(mistake: Mistake, source: string): Mutant {
  const before = source.split('\n');
  const after = apply(mistake, source).split('\n');
  const first = before.findIndex((line, index) => line !== after[index]);
  const same = before.toReversed().findIndex((line, index) => line !== after.at(-1 - index));
  return {
    ...mistake,
    line: first + 1,
    before: before.slice(first, before.length - same),
    after: after.slice(first, after.length - same),
  };
}
