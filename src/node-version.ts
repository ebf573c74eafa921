/** The oldest Node that has all that the service imports. */
export const OLDEST_NODE = 26;

/**
 * What to tell the user of a Node that is too old. Entry points ask before they import anything else, which such
 * a Node could not even load.
 *
 * @param command runs the same with the Node that comes with the installation
 */
export function nodeProblem(command: string, version = process.versions.node): string | undefined {
  if (Number.parseInt(version, 10) >= OLDEST_NODE) return undefined;
  return `Node ${OLDEST_NODE} or newer is needed, this is ${version}. Start with: ${command}`;
}
