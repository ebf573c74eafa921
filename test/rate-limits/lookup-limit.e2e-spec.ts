import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { times } from '../support/at-once.js';
import {
  alreadyMember,
  insufficientRole,
  invalidFields,
  notAMember,
  orgNotFound,
  rateLimited,
  unauthorized,
  userNotFound,
} from '../support/expected.js';
import { type Account, anEmail, anOrg, anOrgOf, type Org } from '../support/personas.js';
import { type Service, startService, startServiceWithoutLimits } from '../support/service.js';

const LIMIT = 3;

function add(org: Org, by: Account, email: string = anEmail()): Promise<Answer> {
  return by.post(`/api/orgs/${org.id}/members`, { email, role: 'member' });
}

describe('the limit of additions of unknown e-mails', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({ env: { RATE_LIMIT_LOOKUP: `${LIMIT}/1h` } });
  });
  afterAll(() => service.stop());

  it('refuses every addition by a user who probes, before the look-up', async () => {
    const { org, owner, admin, outsider } = await anOrg(service);

    for (const left of [2, 1, 0]) {
      const missed = await add(org, owner);
      expect(missed).toMatchObject(userNotFound);
      expect(missed.headers.get('ratelimit-policy')).toBe('"lookup";q=3;w=3600');
      expect(missed.headers.get('ratelimit')).toMatch(new RegExp(`^"lookup";r=${left};t=\\d+$`));
    }

    for (const email of [anEmail(), outsider.email, admin.email]) {
      const refused = await add(org, owner, email);
      expect(refused).toMatchObject(rateLimited);
      expect(refused.headers.get('ratelimit')).toMatch(/^"lookup";r=0;t=\d+$/);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3500);
    }
    expect(await add(await anOrgOf(owner), owner, outsider.email)).toMatchObject(rateLimited);
    expect((await add(org, admin, outsider.email)).status).toBe(201);
  });

  it('does not count additions with other answers', async () => {
    const { org, owner, admin, outsider } = await anOrg(service);

    for (const _ of times(2 * LIMIT, () => 0)) {
      expect(await add(org, owner, admin.email)).toMatchObject(alreadyMember);
      expect(await add(org, owner, 'nobody')).toMatchObject(invalidFields('email'));
    }
    const added = await add(org, owner, outsider.email);

    expect(added.status).toBe(201);
    expect(added.headers.get('ratelimit')).toMatch(/^"lookup";r=3;t=3600$/);
  });

  it('is checked after the role and the body', async () => {
    const { org, owner, member, outsider } = await anOrg(service);
    for (const _ of times(LIMIT, () => 0)) await add(org, owner);

    expect(await add(org, owner)).toMatchObject(rateLimited);
    expect(await add(org, owner, 'nobody')).toMatchObject(invalidFields('email'));
    expect(await add({ ...org, id: owner.id }, owner)).toMatchObject(orgNotFound);
    expect(await add(await anOrgOf(outsider), owner)).toMatchObject(notAMember);
    for (const _ of times(2, () => 0)) {
      expect(await add(org, member)).toMatchObject(insufficientRole('admin', 'member'));
    }
    expect(await service.anyone.post(`/api/orgs/${org.id}/members`, {})).toMatchObject(unauthorized);
  });

  it('admits exactly the limit of simultaneous requests', async () => {
    const { org, owner } = await anOrg(service);

    const answers = await Promise.all(times(20, () => add(org, owner)));

    expect(answers.filter(({ status }) => status === 404)).toHaveLength(LIMIT);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20 - LIMIT);
  });
});

it('the limit of additions of unknown e-mails can be switched off', async () => {
  const service = await startServiceWithoutLimits();
  const { org, owner } = await anOrg(service);

  for (const _ of times(3, () => 0)) {
    const missed = await add(org, owner);
    expect(missed).toMatchObject(userNotFound);
    expect(missed.headers.get('ratelimit-policy')).toBeNull();
  }
  await service.stop();
});
