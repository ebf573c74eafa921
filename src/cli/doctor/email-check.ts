import { canonicalEmail } from '../../users/email-address.js';
import { type Check, EXAMPLES } from './check.js';

const BATCH = 5000;

/** Checks in code, because SQL cannot express the rule. */
export const EMAIL_CHECK: Check = {
  claim: 'every e-mail is in its canonical form',
  remedy:
    'Nobody can log in with these e-mails: change them to the canonical form, or ask their owners which is right.',
  async findFaults({ runner }) {
    const faults: string[] = [];
    for (let after = ''; faults.length < EXAMPLES;) {
      const users = (await runner.query(
        `SELECT id, email FROM users WHERE id > ? ORDER BY id LIMIT ${BATCH}`,
        [after],
      )) as { id: string; email: string }[];
      faults.push(
        ...users.filter(({ email }) => canonicalEmail(email) !== email).map(({ id }) => `user ${id}`),
      );
      if (users.length < BATCH) break;
      after = users.at(-1)!.id;
    }
    return faults.slice(0, EXAMPLES);
  },
};
