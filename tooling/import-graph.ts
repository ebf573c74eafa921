import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** What each file or room imports of the others. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** Static imports, `import()`, and imports for types alone, among the files that match. */
export function importGraph(root: string, pattern: string): ImportGraph {
  const paths = globSync(pattern, { cwd: root });
  return graphOf(new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')])));
}

/** @param files their texts, by path */
export function graphOf(files: ReadonlyMap<string, string>): ImportGraph {
  const targets = ([path, text]: [string, string]): Set<string> => {
    const found = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
    const local = found.filter((name) => name.startsWith('.')).map((name) => join(dirname(path), name));
    return new Set(
      local.flatMap((name) => [name, name.replace(/\.js$/, '.ts')]).filter((name) => files.has(name)),
    );
  };
  return new Map([...files].map((file) => [file[0], targets(file)]));
}

/** The imports between rooms. */
export function between(rooms: (path: string) => string, graph: ImportGraph): ImportGraph {
  const byRoom = Map.groupBy(graph, ([path]) => rooms(path));
  return new Map(
    [...byRoom].map(([room, files]) => {
      const targets = files.flatMap(([, imported]) => [...imported].map(rooms));
      return [room, new Set(targets.filter((target) => target !== room))];
    }),
  );
}

/** Every import in or between cycles, as `one imports another`. */
export function circularImports(graph: ImportGraph): string[] {
  let left = [...graph].flatMap(([path, targets]) => [...targets].map((target) => ({ path, target })));
  for (let before = -1; before !== left.length;) {
    before = left.length;
    const importing = new Set(left.map(({ path }) => path));
    const imported = new Set(left.map(({ target }) => target));
    left = left.filter(({ path, target }) => imported.has(path) && importing.has(target));
  }
  return left.map(({ path, target }) => `${path} imports ${target}`);
}
