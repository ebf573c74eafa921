import { afterAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { instancesInADuel } from '../support/engine.js';
import { alreadyMember, tooManyOrgs, userHasTooManyOrgs } from '../support/expected.js';
import { accept, anInvitation, received, roleOf, rowOf, verified } from '../support/inviting.js';
import { addMember as add, orgsOf, removeMember } from '../support/org-members.js';
import { type Account, anAccount, anOrgOf, join, type Org } from '../support/personas.js';
import { startCluster } from '../support/service.js';

const LIMIT = 5;
/** Four fifths. */
const BY_OTHERS = 4;
const AT_ONCE = 20;

const cluster = await startCluster(instancesInADuel, { env: { MAX_ORGS_PER_USER: String(LIMIT) } });
afterAll(() => cluster.stop());

describe('MAX_ORGS_PER_USER', () => {
  const instance = (index: number) => cluster.instances[index % cluster.instances.length]!;
  const create = (who: Account, index = 0) =>
    who.at(instance(index)).post<{ org: Org }>('/api/orgs', { name: `Org of ${who.email}` });

  async function aUserAtTheLimit(): Promise<{ user: Account; orgs: Org[] }> {
    const user = await anAccount(instance(0));
    return { user, orgs: await Promise.all(times(LIMIT, () => anOrgOf(user))) };
  }

  async function anOwnerWithOrg(): Promise<{ owner: Account; org: Org }> {
    const owner = await anAccount(instance(0), 'owner');
    return { owner, org: await anOrgOf(owner) };
  }
  async function ownersWithOrgs(count: number): Promise<{ owner: Account; org: Org }[]> {
    const owners = [];
    while (owners.length < count) owners.push(await anOwnerWithOrg());
    return owners;
  }
  /** Each by the owner's own instance. */
  const addAtOnce = (owners: { owner: Account; org: Org }[], user: Account) =>
    atOnce(
      owners.map(
        ({ owner, org }, index) =>
          () =>
            add(owner.at(instance(index)), org, user),
      ),
    );

  const outcomeOf = ({ status, body }: Answer) =>
    status === 201 ? 'done' : `${status} ${(body as { code: string }).code}`;

  it('refuses to create one more, and stores nothing', async () => {
    const { user } = await aUserAtTheLimit();
    expect(await create(user)).toMatchObject(tooManyOrgs);
    expect(await orgsOf(user)).toHaveLength(LIMIT);
    const left = await cluster.db.query('SELECT id FROM orgs WHERE name = ?', [`Org of ${user.email}`]);
    expect(left).toEqual([]);
  });

  it('refuses to add a user at the limit', async () => {
    const { user } = await aUserAtTheLimit();
    const { owner, org } = await anOwnerWithOrg();
    expect(await add(owner, org, user)).toMatchObject(userHasTooManyOrgs);
    expect(await orgsOf(user)).toHaveLength(LIMIT);
  });

  it('keeps a fifth for the user to create and to accept, whom strangers add wherever they can', async () => {
    const victim = await anAccount(instance(0), 'victim');
    const strangers = await ownersWithOrgs(BY_OTHERS + 2);
    const outcomes: string[] = [];
    for (const { owner, org } of strangers) outcomes.push(outcomeOf(await add(owner, org, victim)));
    const refusal = '409 user_has_too_many_orgs';
    expect(outcomes).toEqual([...times(BY_OTHERS, () => 'done'), refusal, refusal]);
    const { owner, org } = await anOwnerWithOrg();
    const refused = await add(owner, org, victim);
    expect(refused).toMatchObject(userHasTooManyOrgs);
    expect(refused.body).toMatchObject({ detail: expect.stringContaining('by invitation') });
    const invitation = await anInvitation(owner, org, { email: victim.email });
    const accepted = await accept(victim, invitation, invitation.code);
    expect(accepted.status, accepted.text).toBe(200);
    expect(await orgsOf(victim)).toHaveLength(LIMIT);
    expect(await create(victim)).toMatchObject(tooManyOrgs);
  });

  it('lets a user create whom others have added wherever they can', async () => {
    const user = await anAccount(instance(0));
    for (const { owner, org } of await ownersWithOrgs(BY_OTHERS)) await add(owner, org, user);
    expect((await create(user)).status).toBe(201);
    expect(await create(user)).toMatchObject(tooManyOrgs);
  });

  it('lets a user at the limit add others, and answers already_member for one', async () => {
    const { user, orgs } = await aUserAtTheLimit();
    expect((await add(user, orgs[0]!, await anAccount(instance(0)))).status).toBe(201);
    expect(await add(user, orgs[0]!, user)).toMatchObject(alreadyMember);
  });

  it('keeps an invitation of a user at the limit pending', async () => {
    const { user } = await aUserAtTheLimit();
    await verified(cluster.db, user);
    const { owner, org } = await anOwnerWithOrg();
    const invitation = await anInvitation(owner, org, { email: user.email });
    expect(await accept(user, invitation)).toMatchObject(tooManyOrgs);
    expect(await rowOf(cluster.db, invitation)).toMatchObject({ status: 'pending', pending: 1 });
    expect(await roleOf(cluster.db, org, user)).toBeUndefined();
    expect(await received(user)).toMatchObject([{ id: invitation.id, status: 'pending' }]);
  });

  it('counts a deleted organization until it is purged', async () => {
    const { user, orgs } = await aUserAtTheLimit();
    await user.delete(`/api/orgs/${orgs[0]!.id}`);
    expect(await create(user)).toMatchObject(tooManyOrgs);
  });

  it('counts current memberships only', async () => {
    const { user, orgs } = await aUserAtTheLimit();
    await join(orgs[0]!, user, await anAccount(instance(0)), 'owner');
    expect((await removeMember(user, orgs[0]!, user)).status).toBe(200);
    expect((await create(user)).status).toBe(201);
    expect(await create(user)).toMatchObject(tooManyOrgs);
  });

  it('is exact for simultaneous creations', async () => {
    const user = await anAccount(instance(0));
    const answers = await atOnce(times(AT_ONCE, (index) => () => create(user, index)));
    expect(answers.map(outcomeOf).toSorted()).toEqual([
      ...times(AT_ONCE - LIMIT, () => '409 too_many_orgs'),
      ...times(LIMIT, () => 'done'),
    ]);
    expect(await orgsOf(user)).toHaveLength(LIMIT);
  });

  it('is exact for simultaneous additions', async () => {
    const user = await anAccount(instance(0));
    expect((await addAtOnce(await ownersWithOrgs(AT_ONCE), user)).map(outcomeOf).toSorted()).toEqual([
      ...times(AT_ONCE - BY_OTHERS, () => '409 user_has_too_many_orgs'),
      ...times(BY_OTHERS, () => 'done'),
    ]);
    expect(await orgsOf(user)).toHaveLength(BY_OTHERS);
  });

  it('is exact for simultaneous creations and additions', async () => {
    const user = await anAccount(instance(0));
    const answers = await atOnce<Answer>(
      (await ownersWithOrgs(AT_ONCE / 2)).flatMap(({ owner, org }, index) => [
        () => add(owner.at(instance(index)), org, user),
        () => create(user, index + 1),
      ]),
    );
    const refused = answers.map(outcomeOf).filter((outcome) => outcome !== 'done');
    expect(refused).toHaveLength(AT_ONCE - LIMIT);
    for (const outcome of refused) expect(outcome).toMatch(/^409 (?:user_has_)?too_many_orgs$/);
    expect(await orgsOf(user)).toHaveLength(LIMIT);
  });

  it('lets many new users create organizations at once', async () => {
    const users = (await ownersWithOrgs(AT_ONCE)).map(({ owner }) => owner);
    const answers = await atOnce(
      times(AT_ONCE * (LIMIT - 1), (index) => () => create(users[index % AT_ONCE]!, index)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  });
});
