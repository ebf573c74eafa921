import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { InvalidCheck, requirementOf } from '../src/guard/requirement-of.ts';

const ORG = '0198a000-0000-7000-8000-000000000001';
const OTHER = '0198a000-0000-7000-8000-000000000002';

/** Original paths, and the segment that is taken for the organization. */
const PATHS: [string, string][] = [
  [`/orgs/${ORG}`, ORG],
  [`/orgs/${ORG}/`, ORG],
  [`/orgs/${ORG}/a.b/..c/d..?x=//../%2e`, ORG],
  [`/orgs/${ORG}%20`, `${ORG}%20`],
  ['/orgs', ''],
  ['', ''],
  ['?', ''],
  [`orgs/${ORG}`, ''],
  [`/orgs/${ORG}/..`, ''],
  [`/orgs/${ORG}/../x`, ''],
  [`/orgs/${ORG}/..;/x`, ''],
  [`/orgs/./${ORG}`, ''],
  [`/orgs/${ORG}/%2e%2E/x`, ''],
  [`/orgs/${ORG}/x%2Fy`, ''],
  [`/orgs/${ORG}/x%5cy`, ''],
  [`/orgs/${ORG}\\x`, ''],
  [`//orgs/${ORG}`, ''],
  [`/orgs/${ORG}//x`, ''],
  [`https://h/orgs/${ORG}`, ''],
];

function detailOf(target: string, forwarded?: string[]): string {
  try {
    return JSON.stringify(requirementOf(target, forwarded)) ?? 'no check';
  } catch (error) {
    if (error instanceof InvalidCheck) return error.message;
    throw error;
  }
}

describe('requirementOf', () => {
  it.each([
    ['/check', 'any user'],
    ['/check?', 'any user'],
    ['/check/-', 'any user'],
    ['/check/-/orgs/x?page=3', 'any user'],
    [`/check?org=${ORG}`, { orgId: ORG }],
    [`/check?org=${ORG}&role=admin`, { orgId: ORG, role: 'admin' }],
    [
      `/check?role=owner&org=${ORG}&maxAge=300&amr=pwd,otp`,
      { orgId: ORG, role: 'owner', maxAge: 300, amr: ['pwd', 'otp'] },
    ],
    ['/check?amr=pwd%2Cotp', { amr: ['pwd', 'otp'] }],
    ['/check?amr=fed,otp', { amr: ['fed', 'otp'] }],
    ['/check?maxAge=0', { maxAge: 0 }],
    ['/check?via=', { via: [] }],
    ['/check?via=billing,orders', { via: ['billing', 'orders'] }],
    [`/check/orgAt=2&role=admin/orgs/${ORG}/invoices?page=3&role=member`, { orgId: ORG, role: 'admin' }],
    [`/check/orgAt=2/orgs/${ORG}`, { orgId: ORG }],
    [`/check/org=${ORG}/anything`, { orgId: ORG }],
    ['/check-keys', { keys: true }],
    ['/check-keys/-/orgs/x', { keys: true }],
    ['/check-keys?maxAge=300&via=', { keys: true, maxAge: 300, via: [] }],
    [`/check-keys?org=${ORG}&role=admin`, { keys: true, orgId: ORG, role: 'admin' }],
    [`/check-keys/orgAt=2&role=admin/orgs/${ORG}/x?role=member`, { keys: true, orgId: ORG, role: 'admin' }],
    ['/check-service?from=billing', { from: ['billing'] }],
    ['/check-service/from=billing,orders/x', { from: ['billing', 'orders'] }],
  ])('reads %s', (target, expected) => {
    expect(requirementOf(target)).toEqual(expected);
  });

  it.each([
    '/',
    '/Check',
    '//check',
    '/checks',
    '/check-keyss',
    '/check-Keys',
    '/checkkeys',
    '/check;x',
    '/exchange',
    `http://h/check?org=${ORG}`,
    '*',
    '',
  ])('takes %j for no check', (target) => expect(requirementOf(target)).toBeUndefined());

  it.each([
    ['/check?Role=admin', 'unknown parameter Role'],
    ['/check?org=1&orgid=2', 'unknown parameter orgid'],
    ['/check?eyJhbGciOiJFUzI1NiJ9.e30.c2ln', 'unknown parameter (not shown)'],
    ['/check?&', 'unknown parameter (not shown)'],
    ['/check?constructor=1', 'unknown parameter constructor'],
    [`/check?org=${ORG}&org=${ORG}`, 'org is repeated'],
    [`/check?org=${ORG}&orgAt=1`, 'org and orgAt exclude each other'],
    ['/check?org', 'org must have one value'],
    ['/check?org=a=b', 'org must have one value'],
    ['/check?org=%', 'org is percent-encoded wrongly'],
    ['/check?org=%FF', 'org is percent-encoded wrongly'],
    ['/check?role=admin', 'role needs org or orgAt'],
    [`/check?org=${ORG}&role=Owner`, 'role must be member, admin or owner'],
    [`/check?org=${ORG}&role=`, 'role must be member, admin or owner'],
    ['/check?maxAge=-1', 'maxAge must be a whole number of seconds'],
    ['/check?maxAge=', 'maxAge must be a whole number of seconds'],
    ['/check?maxAge=1e9x', 'maxAge must be a whole number of seconds'],
    ['/check?maxAge=1e9', 'maxAge must be a whole number of seconds'],
    ['/check?amr=sms', 'amr must be one of pwd, fed, otp, or several with commas between them'],
    ['/check?amr=', 'amr must be one of pwd, fed, otp, or several with commas between them'],
    ['/check?via=Billing', 'via must be names of services, with commas'],
    ['/check?via=billing,', 'via must be names of services, with commas'],
    ['/check?from=billing', 'unknown parameter from'],
    ['/check?keys=true', 'unknown parameter keys'],
    ['/check-keys?keys=false', 'unknown parameter keys'],
    ['/check-keys?from=billing', 'unknown parameter from'],
    ['/check-keys?role=admin', 'role needs org or orgAt'],
    ['/check-keys/', 'the path has no requirement: - requires nothing'],
    ['/check-service', 'from must be names of services, with commas'],
    ['/check-service?from=', 'from must be names of services, with commas'],
    [`/check-service?from=billing&org=${ORG}`, 'unknown parameter org'],
    ['/check?orgAt=0', 'orgAt must be a number from 1 to 99'],
    ['/check?orgAt=x', 'orgAt must be a number from 1 to 99'],
    ['/check?orgAt=01', 'orgAt must be a number from 1 to 99'],
    ['/check?orgAt=2', 'orgAt needs the header X-Forwarded-Uri, or the original path'],
    [`/check?org=${ORG}#&role=admin`, 'the target contains #'],
    ['/check/', 'the path has no requirement: - requires nothing'],
    ['/check//orgs', 'the path has no requirement: - requires nothing'],
    ['/check/?org=1', 'the path has no requirement: - requires nothing'],
    ['/check/orgs/x', 'unknown parameter orgs'],
    ['/check/..', 'unknown parameter (not shown)'],
    [`/check?org=${'x'.repeat(9_000)}`, 'the target is longer than 8 KiB'],
  ])('refuses %s', (target, detail) => {
    expect(detailOf(target)).toBe(detail);
  });

  it('refuses two headers of the original path', () => {
    expect(detailOf('/check?orgAt=2', [`/orgs/${ORG}`, `/orgs/${OTHER}`])).toBe(
      'X-Forwarded-Uri is sent twice',
    );
  });

  it.each(PATHS)('finds in the original path %j the organization %j', (path, orgId) => {
    expect(requirementOf('/check?orgAt=2', [path])).toEqual({ orgId });
  });

  it('finds the same in a path form', () => {
    const paths = PATHS.filter(([path]) => /^(?:[/?]|$)/.test(path));
    expect(paths.length).toBeGreaterThan(12);
    for (const [path, orgId] of paths)
      expect(requirementOf(`/check/orgAt=2${path}`), path).toEqual({ orgId });
  });

  it('never requires less than the operator wrote, whatever text stands in place of the id', () => {
    const parts = [
      ORG,
      OTHER,
      '&',
      '=',
      '?',
      '/',
      '#',
      '%',
      '%26',
      '%23',
      '%2f',
      '..',
      '\\',
      ';',
      ',',
      '+',
      ' ',
      '\0',
    ];
    const words = ['role', 'role=member', 'org=', 'orgAt=1', 'via=', 'maxAge=9', '-', randomUUID(), 'é', ''];
    const all = [...parts, ...words];
    const pick = random(65);
    const less: string[] = [];
    let read = 0;
    for (let time = 0; time < 4_000; time += 1) {
      const text = Array.from({ length: pick(6) }, () => all[pick(all.length)]!).join('');
      const targets: [string, string[]?][] = [
        [`/check?org=${text}&role=admin`],
        [`/check?role=admin&org=${text}`],
        [`/check/role=admin&org=${text}/orgs/${text}`],
        [`/check/orgAt=2&role=admin/orgs/${text}/x`],
        [`/check/orgAt=2&role=admin${text}`],
        [`/check-keys?org=${text}&role=admin`],
        ['/check?orgAt=2&role=admin', [`/orgs/${text}/x`]],
      ];
      for (const [target, forwarded] of targets) {
        const required = detailOf(target, forwarded);
        if (!/^["{]/.test(required)) continue;
        read += 1;
        if (!/^\{.*"orgId":".*","role":"admin"/s.test(required)) less.push(target);
      }
    }
    expect(less).toEqual([]);
    expect(read).toBeGreaterThan(2_000);
  });
});

/** A small generator with a seed, so that a failure repeats. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
