// Fills a guard with memberships and then with events, and prints its memory in MiB: node --expose-gc full-guard.ts
// Answers come without a network, which the memory of the guard is not about.
import { randomUUID } from 'node:crypto';
import { createGuard } from '../../../client/src/service/index.ts';

const MEMBERS = 100_000;
const PAGE = 1_000;
/** More than the guard remembers. */
const PAGES_TO_FILL = 150;
const FURTHER_PAGES = 150;
const AT_ONCE = 32;

const orgId = randomUUID();
let nextUser = 0;
let pages = 0;
let pagesWanted = 0;
let askForMore: () => void = () => undefined;
let applied = 0;
let tellAllApplied: () => void = () => undefined;

const answer = (body: object): Response =>
  new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });

async function accounts(input: string | URL | Request): Promise<Response> {
  const { pathname, searchParams } = new URL(input instanceof Request ? input.url : input);
  if (pathname === '/api/memberships') {
    const userId = searchParams.get('userId');
    return answer({ memberships: [{ orgId, userId, role: 'member', orgRevision: 1 }] });
  }
  if (!searchParams.has('after')) return answer({ events: [], next: '0' });
  if (pages >= pagesWanted) {
    await new Promise<void>((answered) => {
      askForMore = answered;
      setTimeout(answered, Number(searchParams.get('wait')) * 1000);
    });
    return answer({ events: [], next: String(pages) });
  }
  pages += 1;
  return answer({ events: Array.from({ length: PAGE }, (_, place) => anEvent(place)), next: String(pages) });
}

function anEvent(place: number): object {
  const about = { orgId: null, orgRevision: null, userId: randomUUID(), sessionId: null };
  if (place % 3 === 0) return { ...about, type: 'session.ended', sessionId: randomUUID(), data: {} };
  if (place % 3 === 1)
    return { ...about, type: 'session.ended', data: { all: true, epoch: 1, except: randomUUID() } };
  return { ...about, type: 'member.added', orgId, orgRevision: 2, data: { role: 'member' } };
}

const guard = createGuard({
  issuer: 'http://accounts.invalid',
  audience: 'billing',
  credentials: { name: 'billing', secret: 's' },
  fetch: accounts,
  // The answers come without a pause, so a busy machine may hear the feed late.
  maxStaleness: 600,
  onEvent: () => {
    applied += 1;
    if (applied === pagesWanted * PAGE) tellAllApplied();
  },
});

async function read(): Promise<void> {
  while (nextUser < MEMBERS) {
    nextUser += 1;
    const answered = await guard.roleOf(randomUUID(), orgId);
    if (!answered.ok || answered.role !== 'member') throw new Error(JSON.stringify(answered));
  }
}

function follow(further: number): Promise<void> {
  return new Promise((allApplied) => {
    tellAllApplied = allApplied;
    pagesWanted += further;
    askForMore();
  });
}

/** The second collection takes what is only weakly referenced, such as by timers. */
async function liveMiB(): Promise<number> {
  for (let time = 0; time < 2; time += 1) {
    await new Promise((turn) => setImmediate(turn));
    globalThis.gc!();
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

const empty = await liveMiB();
await Promise.all(Array.from({ length: AT_ONCE }, read));
const members = await liveMiB();
await follow(PAGES_TO_FILL);
const full = await liveMiB();
await follow(FURTHER_PAGES);
const further = await liveMiB();
console.log(JSON.stringify({ empty, members, full, further }));
await guard.close();
