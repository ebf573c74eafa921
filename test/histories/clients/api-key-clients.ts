import { setTimeout as sleep } from 'node:timers/promises';
import { asRecord, asString } from '../../support/service-client.js';
import type { Client, Person, Request } from './client.js';
import { type Bound, type Delegation, KEY_SERVICES, linksSince } from './delegation.js';
import { cut, inTheEnd, untilRefused, whileUsed } from './delegation-clients.js';

const PAUSE_MS = 10;
const PATIENCE_MS = 20_000;
const [OWN, OTHER] = KEY_SERVICES;
const SCOPE = `scope ${OWN}`;

interface Key {
  id: string;
  key: string;
  orgId: string;
  owner: Person;
  /** whom the key acts as */
  admin: Person;
  isOfOrg: boolean;
}

/** What takes access away, and what gives it back; without the latter, the key is gone for good. */
type Ending = [link: string, end: Request | 'scope', repair?: Request];

async function aKey(client: Client, name: string): Promise<Key | undefined> {
  const register = (who: string) => inTheEnd((count) => client.register(`${name}-${who}-${count}`));
  const [owner, admin] = [await register('owner'), await register('admin')];
  if (!owner || !admin) return undefined;
  const made = await client.ask('POST', '/api/orgs', { token: owner.token, body: { name } });
  if (!made) return undefined;
  const orgId = asString(asRecord(made.body['org'])['id']);
  // Without this role, each request that gives it back would be rejected.
  if (!(await client.ask(...adding(orgId, owner, admin)))) return undefined;
  const isOfOrg = client.random.between(0, 1) > 0;
  const path = isOfOrg ? `/api/orgs/${orgId}/keys` : '/api/me/keys';
  const body = { name, audience: OWN, role: 'admin' };
  const answer = await client.ask('POST', path, { token: admin.token, body });
  if (!answer) return undefined;
  const id = asString(asRecord(answer.body['apiKey'])['id']);
  return { id, key: asString(answer.body['key']), orgId, owner, admin, isOfOrg };
}

const adding = (orgId: string, owner: Person, { email }: Person): Request => [
  'POST',
  `/api/orgs/${orgId}/members`,
  { token: owner.token, body: { email, role: 'admin' } },
];

/** Some that the key survives, and one that it does not. */
function endingsOf(delegation: Delegation, { random }: Client, made: Key): Ending[] {
  const { id, key, orgId, owner, admin, isOfOrg } = made;
  const member = `/api/orgs/${orgId}/members/${admin.id}`;
  const toRole = (role: string): Request => ['PATCH', member, { token: owner.token, body: { role } }];
  const passing: Ending[] = [
    [`member ${id}`, ['DELETE', member, { token: owner.token }], adding(orgId, owner, admin)],
    [`role ${id}`, toRole('member'), toRole('admin')],
    [`account ${admin.id}`, delegation.disablingUser(admin.id), delegation.enablingUser(admin.id)],
    [SCOPE, 'scope'],
  ];
  const final: Request[] = [
    ['POST', '/api/keys/revoke', { body: { key } }],
    delegation.revokingKey(id),
    ...(isOfOrg ? [['DELETE', `/api/orgs/${orgId}/keys/${id}`, { token: owner.token }] as Request] : []),
  ];
  return [...passing.filter(() => random.between(0, 1) > 0), [`key ${id}`, random.pick(final)]];
}

/** A key and a token that its service handed on, which may be used only if all of these hold since now. */
async function held(delegation: Delegation, client: Client, made: Key): Promise<Bound[] | undefined> {
  const { id, key, orgId, admin } = made;
  const requirement = { orgId, role: 'admin', keys: true } as const;
  const bound = (): Bound => {
    const names = [`key ${id}`, `account ${admin.id}`, `member ${id}`, `role ${id}`, SCOPE];
    return { token: key, audience: OWN, links: linksSince(performance.now(), names), requirement };
  };
  await untilAdmitted(delegation, bound());
  const own = bound();
  const handedOn = await inTheEnd(() => delegation.handOn(client, own, OTHER));
  if (!handedOn) return undefined;
  await untilAdmitted(delegation, handedOn);
  // Guards of further services notice a lost scope only when the token expires.
  return [own, { ...handedOn, links: handedOn.links.filter(({ name }) => name !== SCOPE) }];
}

/** A guard hears by the feed that access was given back. */
async function untilAdmitted(delegation: Delegation, bound: Bound): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until && !(await delegation.admits(bound))) await sleep(PAUSE_MS);
}

/** Introspection names the role, and a user's own key is active outside of the organization, too. */
async function introspect(
  delegation: Delegation,
  client: Client,
  { isOfOrg }: Key,
  bound: Bound,
): Promise<void> {
  const isSeen = (link: string): boolean =>
    !link.startsWith('role') && (isOfOrg || !link.startsWith('member'));
  const links = bound.links.filter(({ name }) => isSeen(name));
  await delegation.introspect(client, { ...bound, links });
}

async function end(delegation: Delegation, client: Client, made: Key, [link, how]: Ending): Promise<boolean> {
  const all = await held(delegation, client, made);
  if (!all) return false;
  const used = how === 'scope' ? all.slice(0, 1) : all;
  await whileUsed(delegation, client, used, async () => {
    const isDone =
      how === 'scope'
        ? await delegation.allowKeys(client, OWN, 'none', link)
        : (await cut(client, [link, how])) !== undefined;
    if (isDone) await untilRefused(delegation, client, used, [link]);
    for (const bound of used) await introspect(delegation, client, made, bound);
  });
  return true;
}

/** Until the key has its role again. */
async function repaired(delegation: Delegation, client: Client, made: Key, ending: Ending): Promise<void> {
  const [, how, repair] = ending;
  for (let isActive = false; !isActive; await sleep(PAUSE_MS)) {
    if (how === 'scope') await delegation.allowKeys(client, OWN, 'keys', SCOPE);
    else await client.ask(...repair!);
    isActive = await delegation.hasRole(client, made.key, OWN, made.orgId, 'admin');
  }
}

/** Takes access away from a key and gives it back, until the key is revoked. */
export const endKeyWhileHandedOn =
  (delegation: Delegation) =>
  async (client: Client, name: string): Promise<void> => {
    const made = await aKey(client, name);
    if (!made) return;
    for (const ending of endingsOf(delegation, client, made)) {
      const isOver = !(await end(delegation, client, made, ending)) || ending[0].startsWith('key');
      if (!ending[0].startsWith('key')) await repaired(delegation, client, made, ending);
      if (isOver) return;
    }
  };
