import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { times } from '../support/at-once.js';
import { type Account, anAccount, anOrgOf } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';

const READS = 30;

describe.runIf(engine === 'sqlite')('while another process writes to the file', () => {
  let service: Instance;
  let ada: Account;
  let other: DatabaseSync;

  beforeAll(async () => {
    service = await startOwnService();
    ada = await anAccount(service, 'ada');
    other = new DatabaseSync(service.db.url.replace('sqlite:', ''));
  });
  afterAll(async () => {
    other.close();
    await service.stop();
  });

  it('reads go on, and a write waits and is done', async () => {
    other.exec('BEGIN IMMEDIATE');
    const write = anOrgOf(ada);
    let isWritten = false;
    void write.then(() => (isWritten = true));

    // SQLite's own way of waiting would hold up the reads for as long as the write.
    for (const _ of times(READS, () => 0)) expect((await ada.get('/api/me')).status).toBe(200);
    expect(isWritten).toBe(false);
    other.exec('COMMIT');

    const org = await write;
    expect((await ada.get(`/api/orgs/${org.id}`)).status).toBe(200);
  });

  it('a write that waits too long is refused and not done', async () => {
    other.exec('BEGIN IMMEDIATE');
    const answer = await ada.post('/api/orgs', { name: 'Never' });
    other.exec('ROLLBACK');

    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await service.db.query("SELECT id FROM orgs WHERE name = 'Never'")).toEqual([]);
  });
});
