import { setTimeout as sleep } from 'node:timers/promises';
import { atOnce, times } from '../../support/at-once.js';
import { asString, type Reply } from '../../support/service-client.js';
import { Client, type Person, type Request } from './client.js';
import {
  type Bound,
  type Delegation,
  FIRST,
  type Held,
  LAST,
  linksSince,
  NAMES,
  SECOND,
} from './delegation.js';

const PAUSE_MS = 10;
const ATTEMPTS = 10;
const LOGINS = 8;
const EXCHANGES = 64;
const MOST_DELAY_MS = 100;
/** Longer than a guard may admit what has ended. */
const PATIENCE_MS = 6000;

/** A link, the request that ends it, and what makes new tokens possible. */
export type Ending = [link: string, end: Request, repair?: Request];

export async function cut(
  client: Client,
  [link, end]: Ending,
  instance?: number,
): Promise<Reply | undefined> {
  return client.record({ kind: 'cut', link }, end, undefined, instance);
}

async function repaired(client: Client, [, , repair]: Ending): Promise<void> {
  if (!repair) return;
  while (!(await client.ask(...repair))) await sleep(PAUSE_MS);
}

/** Tries again if a fault has struck. */
export async function inTheEnd<T>(
  attempt: (count: number) => Promise<T | undefined>,
): Promise<T | undefined> {
  for (let count = 0; count < ATTEMPTS; count += 1) {
    const done = await attempt(count);
    if (done !== undefined) return done;
    await sleep(PAUSE_MS);
  }
  return undefined;
}

/** Two logins of a user, and what they handed on: codes for a service, a second hand-off, ways of several services. */
async function aTree(delegation: Delegation, client: Client, name: string, all: Bound[]) {
  const since = performance.now();
  const first = await inTheEnd((count) => client.register(`${name}-${count}`));
  if (!first) return undefined;
  const { id, email, password, token } = first;
  const second = await inTheEnd(() => client.ask('POST', '/api/auth/login', { body: { email, password } }));
  if (!second) return undefined;
  const loginOf = (login: string, its: string): Held => ({
    token: its,
    links: linksSince(since, [`sessions ${id}`, `account ${id}`, `login ${login}`]),
  });
  const login = loginOf(name, token);
  const other = loginOf(`${name}-other`, asString(second.body['token']));
  const head = await inTheEnd(() => delegation.open(client, login, `${name}/head`));
  const [start, ...way] = NAMES.filter(() => client.random.between(0, 3) > 0);
  const end = way.at(-1);
  if (!head || start === undefined || end === undefined) return undefined;

  const roots: Bound[] = [];
  const keep = (held: Bound | undefined): void => void (held && all.push(held));
  for (const [index, above] of [login, head, other].entries()) {
    const opened = await inTheEnd(() => delegation.open(client, above, `${name}/${index}`, start));
    if (!opened) return undefined;
    const root = { ...opened, audience: start };
    roots.push(root);
    keep(root);
    keep(await inTheEnd(() => delegation.handOn(client, root, end)));
  }
  let holder: Bound | undefined = client.random.pick(roots);
  for (const next of way.length > 1 ? way : []) {
    const from: Bound | undefined = holder;
    holder = from && (await inTheEnd(() => delegation.handOn(client, from, next)));
    keep(holder);
  }
  keep(await inTheEnd(() => delegation.ownToken(start, end)));
  return { name, id, login, head, roots, all, way: [start, ...way] };
}

type Tree = NonNullable<Awaited<ReturnType<typeof aTree>>>;

/** From the least to all that the tree has. */
function endingsOfSessions(delegation: Delegation, { random }: Client, tree: Tree): Ending[] {
  const { name, id, login, head, roots } = tree;
  const logOut = ({ token }: Held): Request => ['POST', '/api/auth/logout', { token }];
  const all: Ending[] = [
    [`head ${name}/0`, logOut(roots[0]!)],
    [`head ${name}/head`, logOut(random.pick([head, roots[1]!]))],
    [`login ${name}`, logOut(login)],
    random.pick<Ending>([
      [`sessions ${id}`, delegation.endingSessions(id)],
      [`account ${id}`, delegation.disablingUser(id), delegation.enablingUser(id)],
    ]),
  ];
  return all.filter(() => random.between(0, 1) > 0);
}

function endingsOfCalls(delegation: Delegation, { random }: Client, { way }: Tree): Ending[] {
  const call = (index: number): Ending => {
    const name = `${way[index - 1]}>${way[index]}`;
    return [`call ${name}`, delegation.revoking(name), delegation.allowing(name)];
  };
  const last = random.between(1, way.length - 1);
  // The guard of the last one would also learn that it was disabled itself.
  const name = random.pick(way.slice(0, -1));
  return [call(last), [`service ${name}`, delegation.disabling(name), delegation.enabling(name)]];
}

const endWhileHandedOn =
  (endingsOf: typeof endingsOfCalls) =>
  (delegation: Delegation) =>
  async (client: Client, name: string): Promise<void> => {
    const all: Bound[] = [];
    const introspectSome = async (): Promise<void> => {
      for (const held of times(3, () => client.random.pick(all))) await delegation.introspect(client, held);
    };
    await whileUsed(delegation, client, all, async () => {
      const tree = await aTree(delegation, client, name, all);
      for (const ending of tree ? endingsOf(delegation, client, tree) : []) {
        const done = await cut(client, ending);
        if (done) await untilRefused(delegation, client, all, [ending[0]]);
        await introspectSome();
        await repaired(client, ending);
        await introspectSome();
      }
    });
  };

/** Uses all tokens again and again during the work, and once after it. */
export async function whileUsed(
  delegation: Delegation,
  client: Client,
  all: readonly Bound[],
  work: () => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const useAll = async (): Promise<void> => {
    for (const held of all) await delegation.use(client, held);
  };
  const repeat = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await useAll();
      await sleep(PAUSE_MS);
    }
  };
  await atOnce([repeat, () => work().finally(() => over.abort())]);
  await useAll();
}

export const endSessionWhileHandedOn = endWhileHandedOn(endingsOfSessions);
export const endCallWhileHandedOn = endWhileHandedOn(endingsOfCalls);

/** Uses all tokens until none that names one of the links is admitted. */
export async function untilRefused(
  delegation: Delegation,
  client: Client,
  all: readonly Bound[],
  ended: readonly string[],
): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (let isAdmitted = true; isAdmitted && performance.now() < until; await sleep(PAUSE_MS)) {
    isAdmitted = false;
    for (const held of all) {
      const { ok } = await delegation.use(client, held);
      isAdmitted ||= ok && held.links.some(({ name }) => ended.includes(name));
    }
  }
}

/** Logs many logins of a user out at once, so that an instance may be killed when it has answered only. */
export const endLoginsAtOnce =
  (delegation: Delegation) =>
  async (client: Client, name: string): Promise<void> => {
    const user = await inTheEnd((count) => client.register(`${name}-${count}`));
    if (!user) return;
    const all: Bound[] = [];
    await whileUsed(delegation, client, all, () => logOutAtOnce(delegation, client, user, all));
  };

async function logOutAtOnce(
  delegation: Delegation,
  client: Client,
  { email, password }: Pick<Person, 'email'> & { password: string },
  all: Bound[],
): Promise<void> {
  const endings: Ending[] = [];
  for (const index of times(LOGINS, (count) => count)) {
    const reply = await client.ask('POST', '/api/auth/login', { body: { email, password } });
    if (!reply) continue;
    const token = asString(reply.body['token']);
    const link = `login ${email}/${index}`;
    const audience = client.random.pick(NAMES);
    const login = { token, links: linksSince(performance.now(), [link]) };
    const opened = await delegation.open(client, login, `${email}/${index}`, audience);
    if (opened) all.push({ ...opened, audience });
    if (opened) endings.push([link, ['POST', '/api/auth/logout', { token }]]);
  }
  const done = await atOnce(endings.map((ending) => async () => (await cut(client, ending)) && ending[0]));
  const ended = done.filter((link) => link !== undefined);
  await untilRefused(delegation, client, all, ended);
}

/** Exchanges a token for a way many times at one instance while a call on the way is revoked and allowed again at another. */
export const exchangeWhileRevoked =
  (delegation: Delegation) =>
  async (client: Client, name: string): Promise<void> => {
    const since = performance.now();
    const login = await client.register(name);
    const links = linksSince(since, [`login ${name}`]);
    const opened = login && (await delegation.open(client, { token: login.token, links }, name, LAST));
    const subject = opened && (await delegation.exchange(client, { ...opened, audience: LAST }, FIRST));
    if (!subject) return;
    const { instances, operations, random } = client;
    const from = random.between(0, instances.length - 1);
    const other = (from + 1) % instances.length;
    const call = `${LAST}>${FIRST}`;
    const got: Bound[] = [];
    // A frozen instance has read the call of some exchanges once, and reads it again when it has thawed.
    const atFrom = new Client([instances[from]!], operations, random);
    const exchange = async (): Promise<void> => {
      const held = await delegation.exchange(atFrom, subject, SECOND);
      if (held) got.push(held);
    };
    const ending: Ending = [`call ${call}`, delegation.revoking(call), delegation.allowing(call)];
    const revokeAndAllow = async (): Promise<void> => {
      await sleep(random.between(0, MOST_DELAY_MS));
      const change = async (): Promise<void> => {
        await cut(client, ending, other);
        await instances[other]!(...delegation.allowing(call)).catch(() => undefined);
      };
      await (from === other ? change() : delegation.whileFrozen(from, change()));
    };
    await atOnce([...times(EXCHANGES, () => exchange), revokeAndAllow]);
    await repaired(client, ending);
    for (const held of got.slice(-4)) {
      await delegation.introspect(client, held);
      await delegation.use(client, held);
    }
  };
