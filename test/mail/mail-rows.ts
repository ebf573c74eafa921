import type { Database, Row } from '../support/database.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

export async function mailOf(db: Database, recipient: string): Promise<Row | undefined> {
  return (await db.query('SELECT * FROM mails WHERE recipient = ?', [recipient]))[0];
}

export function untilState(db: Database, recipient: string, state: string): Promise<unknown> {
  return waitFor(
    `the mail is ${state}`,
    hangTimeoutMs(),
    async () => (await mailOf(db, recipient))?.['state'] === state,
  );
}

export function untilFailed(db: Database, recipient: string, attempts = 1): Promise<unknown> {
  return waitFor(`${attempts} attempts have failed`, hangTimeoutMs(), async () => {
    const mail = await mailOf(db, recipient);
    return Number(mail?.['attempts']) >= attempts && mail?.['last_error'] !== null;
  });
}
