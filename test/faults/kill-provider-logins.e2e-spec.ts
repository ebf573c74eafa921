import { describe, expect, it } from 'vitest';
import {
  addProvider,
  aDomain,
  aSubject,
  emailAt,
  finishAt,
  insertConfirmed,
  ISSUER,
} from '../support/at-providers.js';
import type { Engine } from '../support/engine.js';
import { Caller } from '../support/caller.js';
import { clientOf } from '../support/service-client.js';
import { closeAfterAll, ENGINES, PASSWORD, register, Storage } from './support/deployment.js';
import { report } from './support/figures.js';
import { StoppableService } from './support/stopped-process.js';

const into = (engine: Engine, table: string): string =>
  engine === 'sqlite' ? `INSERT INTO "${table}"` : `INSERT INTO \`${table}\``;

/** Before each of these statements, the process is killed. */
const stepsOn = (engine: Engine) => ({
  create: [
    'DELETE FROM provider_logins',
    'UPDATE providers SET revision',
    into(engine, 'users'),
    into(engine, 'identities'),
    'INSERT INTO sessions',
    'INSERT INTO events',
    into(engine, 'known_places'),
  ],
  link: [
    'UPDATE users SET revision',
    into(engine, 'identities'),
    'UPDATE users SET email_verified_at',
    into(engine, 'mails'),
    'INSERT INTO sessions',
    'INSERT INTO events',
  ],
});

const HALVES = {
  'users without an identity and a password': `SELECT u.id FROM users u
    WHERE u.password_hash = '!' AND NOT EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id)`,
  'identities without an event': `SELECT i.user_id FROM identities i WHERE NOT EXISTS
    (SELECT 1 FROM events e WHERE e.user_id = i.user_id AND e.type = 'account.identity_linked')`,
  'events without an identity': `SELECT e.id FROM events e WHERE e.type = 'account.identity_linked'
    AND NOT EXISTS (SELECT 1 FROM identities i WHERE i.user_id = e.user_id)`,
  'sessions without an event': `SELECT s.id FROM sessions s WHERE NOT EXISTS
    (SELECT 1 FROM events e WHERE e.session_id = s.id AND e.type = 'session.started')`,
  'events without a session': `SELECT e.id FROM events e WHERE e.type = 'session.started'
    AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = e.session_id)`,
};

describe.each(ENGINES)('kill -9 between two steps of a first login at a provider on %s', async (engine) => {
  const storage = await closeAfterAll(Storage.on(engine));
  const { installation } = storage;
  const { db } = installation;

  it.each(['create', 'link'] as const)('leaves nothing half done: %s', { timeout: 300_000 }, async (what) => {
    const stoppable = await StoppableService.on(storage, {
      JWT_ISSUER: ISSUER,
      SMTP_URL: 'smtp://127.0.0.1:9',
      MAIL_FROM: 'accounts@example.com',
    });
    const anyone = new Caller({ url: stoppable.process.url, secrets: installation.secrets });
    const service = { anyone, url: stoppable.process.url, installation, db };
    const steps = stepsOn(engine)[what];
    for (const step of steps) {
      const domain = aDomain();
      // It is never asked.
      const provider = { issuer: 'https://id.example', clientId: 'accounts', secret: 'secret of the client' };
      const acme = await addProvider(service, provider, { domains: [domain], createUsers: true });
      const email = emailAt(domain);
      if (what === 'link') await register(clientOf(service.url), email);
      const more = what === 'link' ? { password: PASSWORD } : {};
      const subject = aSubject();
      const killed = await insertConfirmed(service, acme, { subject, email });
      stoppable.stopBefore(step);
      const answer = finishAt(service, killed, more).catch(() => undefined);
      await stoppable.untilStopped();
      await stoppable.process.kill();
      expect(await answer, step).toBeUndefined();
      await stoppable.process.start();

      for (const [halves, sql] of Object.entries(HALVES))
        expect(await db.query(sql), `${halves}, ${step}`).toEqual([]);
      expect(await db.query('SELECT subject FROM identities WHERE subject = ?', [subject]), step).toEqual([]);
      const again = await insertConfirmed(service, acme, { subject, email });
      expect((await finishAt(service, again, more)).status, step).toBe(200);
    }
    report({ faults: steps.length, wrong: 0 });
  });
});
