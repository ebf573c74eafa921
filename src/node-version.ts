import crypto from 'node:crypto';

/**
 * What to do where this Node is too old, or `undefined` where it suffices. `randomUUIDv7` is the newest function
 * in use: Node 24.16 and 26.1 brought it, no 25 has it.
 */
export function explainOldNode(): string | undefined {
  if (typeof crypto.randomUUIDv7 === 'function') return undefined;
  return `Node 24.16 or newer is needed (not 25), this is ${process.versions.node}: install it, or npm ci and npm start`;
}
