import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Options } from './options.ts';

/**
 * The unit tests of the folder, and e2e tests by the options or by room.
 * @throws Error where neither says which: all of them would take minutes for each mistake
 */
export function testFilesFor(root: string, { file, tests }: Options): string[] {
  const [, room = ''] = file.split('/');
  const places = tests ?? [`test/${room}/`];
  if (tests === undefined && !existsSync(join(root, 'test', room))) {
    throw new Error(`There is no test/${room}/: name the e2e files, as by --tests test/members/`);
  }
  const overHttp = filesBelow(root, 'test', '.e2e-spec.ts').filter(
    (path) => !path.startsWith('test/faults/') && places.some((place) => path.includes(place)),
  );
  return [...filesBelow(root, dirname(file), '.spec.ts'), ...overHttp];
}

function filesBelow(root: string, folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}
