import crypto from 'node:crypto';

/** `randomUUIDv7` needs Node 24.16 or 26.1. Call this before importing what an older Node cannot load. */
export function nodeProblem(command: string): string | undefined {
  if (typeof crypto.randomUUIDv7 === 'function') return undefined;
  return `Node 24.16 or newer is needed (not 25), this is ${process.versions.node}: install it, or npm ci and ${command}`;
}
