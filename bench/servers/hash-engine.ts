import { loadedFiles } from '../../tooling/processes/usage.ts';

export const HASH_ENGINES = ['@node-rs/argon2', 'argon2'] as const;

export type HashEngine = (typeof HASH_ENGINES)[number];

/** Options of Node that leave a server no other engine; none where it may choose. */
export function nodeOptionsFor(engine: HashEngine | undefined): string[] {
  const refused = HASH_ENGINES.find((other) => engine !== undefined && other !== engine);
  if (refused === undefined) return [];
  const hook = new URL('refuse-import.ts', import.meta.url);
  hook.searchParams.set('package', refused);
  return ['--import', hook.href];
}

/** The engine whose binary one of the processes has loaded; undefined where the system does not tell. */
export function loadedHashEngine(pids: number[]): HashEngine | undefined {
  const binaries = pids
    .flatMap(loadedFiles)
    .filter((file) => /argon2[^/]*\.node$|\/argon2\/.*\.node$/.test(file));
  if (binaries.length === 0) return undefined;
  return binaries.some((file) => file.includes('/@node-rs/')) ? '@node-rs/argon2' : 'argon2';
}
