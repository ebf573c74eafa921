import crypto from 'node:crypto';

/** `randomUUIDv7` needs Node 24.16 or 26.1. Call this before importing what an older Node cannot load. */
export function nodeProblem(command: string): string | undefined {
  if (typeof crypto.randomUUIDv7 === 'function') return undefined;
  const needed = 'Node.js 24.16 or later, or 26.1 or later';
  return `Accounts needs ${needed} (found ${process.versions.node}). Run \`npm ci\`, then \`${command}\`.`;
}
