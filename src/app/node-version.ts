import crypto from 'node:crypto';

/**
 * `randomUUIDv7` needs Node 24.16 or 26.1, no 25 has it. Call this before importing what an older Node cannot load.
 * @param command what to run with the Node of the installation
 */
export function nodeProblem(command: string): string | undefined {
  if (typeof crypto.randomUUIDv7 === 'function') return undefined;
  return `Node 24.16 or newer is needed (not 25), this is ${process.versions.node}: install it, or npm ci and ${command}`;
}
