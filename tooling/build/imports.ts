import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const RELATIVE_IMPORT = /\bfrom '(\.[^']+)\.js'/g;

/** The given source files and all that they import, directly or not. */
export function withImports(root: string, files: readonly string[]): Set<string> {
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file) || !existsSync(join(root, file))) return;
    found.add(file);
    for (const [, path] of readFileSync(join(root, file), 'utf8').matchAll(RELATIVE_IMPORT)) {
      visit(join(dirname(file), `${path}.ts`));
    }
  };
  files.forEach(visit);
  return found;
}
