import { brokenInState, brokenWrites } from './invariants.js';
import type { Send } from '../../support/service-client.js';
import type { Storage } from './storage.js';
import type { LedgerReport } from './write-ledger.js';
import { PASSWORD } from './restartable-service.js';
import type { Ledgers } from './writer.js';

export interface Findings extends Omit<LedgerReport, 'ghosts'> {
  /** Half-done writes, and rows that no client wrote. */
  broken: string[];
}

const HALVES = {
  'a code of no session': `SELECT c.hash FROM authorization_codes c
    LEFT JOIN sessions s ON s.id = c.session_id WHERE s.id IS NULL`,
};

/** Compares what clients were told with the service's answers and its data. */
export async function compare(storage: Storage, send: Send, ledgers: Ledgers): Promise<Findings> {
  const findings = await compareRows(storage, [ledgers]);
  await checkSessions(send, ledgers, findings);
  await checkUsers(send, ledgers, findings);
  await checkCodes(send, ledgers, findings);
  return findings;
}

/** The repeatable part: it only reads. */
export async function compareRows(storage: Storage, rounds: readonly Ledgers[]): Promise<Findings> {
  const findings: Findings = { acknowledged: 0, lost: [], broken: [], unknownApplied: 0, unknownAbsent: 0 };
  const snapshot = await storage.snapshot();
  findings.broken.push(...brokenInState(snapshot), ...(await storage.faults()));
  for (const [what, sql] of Object.entries(HALVES)) {
    for (const row of await storage.query(sql)) findings.broken.push(`${what}: ${JSON.stringify(row)}`);
  }
  const orgs = new Set((await storage.query('SELECT name FROM orgs')).map((row) => String(row['name'])));
  const users = new Set(snapshot.users.map((user) => user.email));
  for (const ledgers of rounds) {
    // Of each organization one writer alone changes the members, so that the order of writes is known.
    findings.broken.push(...brokenWrites(ledgers.members, snapshot));
    findings.acknowledged += ledgers.members.filter(({ status }) => (status ?? 500) < 300).length;
    count(findings, 'organization', ledgers.orgs.compare(orgs));
    count(findings, 'user', ledgers.users.compare(users));
  }
  return findings;
}

function count(findings: Findings, what: string, report: LedgerReport): void {
  findings.acknowledged += report.acknowledged;
  findings.lost.push(...report.lost.map((key) => `${what} ${key}`));
  findings.broken.push(...report.ghosts.map((key) => `${what} ${key} was refused and is there`));
  findings.unknownApplied += report.unknownApplied;
  findings.unknownAbsent += report.unknownAbsent;
}

async function checkSessions(send: Send, ledgers: Ledgers, findings: Findings): Promise<void> {
  const tokens = ledgers.sessions.keys('ok');
  findings.acknowledged += tokens.length;
  for (const token of tokens) {
    const { status } = await send('GET', '/api/me', { token });
    if (status !== 200) findings.lost.push(`the session of a token: ${status}`);
  }
}

/** A user whose registration was acknowledged can log in; another can either log in or register again. */
async function checkUsers(send: Send, ledgers: Ledgers, findings: Findings): Promise<void> {
  for (const email of [...ledgers.users.keys('ok'), ...ledgers.users.keys('unknown')]) {
    const body = { email, password: PASSWORD };
    const login = await send('POST', '/api/auth/login', { body });
    if (login.status === 200) continue;
    const isKnown = ledgers.users.keys('ok').includes(email);
    const again = await send('POST', '/api/auth/register', { body });
    if (isKnown || login.status !== 401 || again.status !== 201)
      findings.broken.push(`${email}: login ${login.status}, register ${again.status}`);
  }
}

/** A code that was not sent back works; one that was exchanged does not work again; an open one does one of both. */
async function checkCodes(send: Send, ledgers: Ledgers, findings: Findings): Promise<void> {
  const exchange = async (code: string): Promise<number> =>
    (await send('POST', '/api/auth/code/exchange', { body: { code } })).status;
  findings.acknowledged += ledgers.unused.size + ledgers.exchanges.keys('ok').length;
  for (const code of ledgers.unused) {
    const status = await exchange(code);
    if (status !== 200) findings.lost.push(`a code that was issued: ${status}`);
  }
  for (const code of ledgers.exchanges.keys('ok')) {
    const status = await exchange(code);
    if (status !== 400) findings.lost.push(`the use of a code: ${status}`);
  }
  for (const code of ledgers.exchanges.keys('unknown')) {
    const status = await exchange(code);
    if (status === 200) findings.unknownAbsent += 1;
    else if (status === 400) findings.unknownApplied += 1;
    else findings.broken.push(`a code whose use is unknown: ${status}`);
  }
}
