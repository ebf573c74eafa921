import crypto from 'node:crypto';

/**
 * What to tell the user of a Node that is too old, or `undefined` where it suffices. `randomUUIDv7` is the newest
 * function in use: Node 24.16 and 26.1 brought it, no 25 has it. Entry points ask before they import anything else,
 * which such a Node could not even load.
 *
 * @param command runs the same with the Node that comes with the installation
 */
export function nodeProblem(command: string): string | undefined {
  if (typeof crypto.randomUUIDv7 === 'function') return undefined;
  return `Node 24.16 or newer is needed (not 25), this is ${process.versions.node}: install it, or npm ci and ${command}`;
}
