import { ENGINES, forgetUnlisted, unlisted } from '../../tooling/statements.js';

export default forgetUnlisted;

const reported = new Set<string>();

/** Each statement once in each worker, so that it fails one file and not all that follow. */
export function newlyUnlisted(): string[] {
  const found = ENGINES.flatMap(unlisted).filter((statement) => !reported.has(statement));
  for (const statement of found) reported.add(statement);
  return found;
}
