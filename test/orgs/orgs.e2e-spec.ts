import { afterAll, describe, expect, it } from 'vitest';
import { anId, insufficientRole, invalidFields, notAMember, orgNotFound } from '../support/expected.js';
import { changeRole, membersOf, membersPath } from '../support/org-members.js';
import { anAccount, anOrg, anOrgOf, anUnknownId, type Org } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
const ada = await anAccount(service, 'ada');
const cast = await anOrg(service);
afterAll(() => service.stop());

describe('creating an organization', () => {
  const create = (name: unknown) => ada.post<{ org: Org }>('/api/orgs', { name });

  it('makes the creator its owner, also where another organization has the name', async () => {
    await anOrgOf(ada);
    const { status, body } = await create('Analytical Engines');

    expect(status).toBe(201);
    expect(body).toEqual({ org: { id: anId, name: 'Analytical Engines' } });
    expect(await membersOf(ada, body.org)).toEqual([{ userId: ada.id, email: ada.email, role: 'owner' }]);
  });

  it.each([
    ['spaces around it', '  Engines  ', 'Engines'],
    ['1 character', 'x', 'x'],
    ['100 characters', 'x'.repeat(100), 'x'.repeat(100)],
    ['100 characters and spaces around them', ` ${'x'.repeat(100)} `, 'x'.repeat(100)],
    ['100 emoji', '\u{1f40e}'.repeat(100), '\u{1f40e}'.repeat(100)],
    ['50 letters with variation selectors', 'a\ufe0f'.repeat(50), 'a\ufe0f'.repeat(50)],
    ['combining marks that compose', 'A\u030angstro\u0308m', '\u00c5ngstr\u00f6m'],
    ['100 letters of two code points, composed', 'A\u030a'.repeat(100), '\u00c5'.repeat(100)],
    ['markup', '<b>"Engines" & \'Co\'</b>', '<b>"Engines" & \'Co\'</b>'],
    ['SQL', "'); DROP TABLE orgs; --", "'); DROP TABLE orgs; --"],
    ['right-to-left text', '\u0645\u0646\u0638\u0645\u0629', '\u0645\u0646\u0638\u0645\u0629'],
    ['a backslash and a percent sign', '100\\% _x_', '100\\% _x_'],
  ])('keeps a name with %s', async (_what, name, kept) => {
    const { status, body, text } = await create(name);

    expect(status, text).toBe(201);
    expect(body.org.name).toBe(kept);
    expect((await ada.get(`/api/orgs/${body.org.id}`)).body).toMatchObject({ org: { name: kept } });
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 5],
    ['a boolean', true],
    ['a list', ['Engines']],
    ['an object', { $ne: '' }],
    ['empty text', ''],
    ['spaces', '   '],
    ['other white space', '\u00a0\u2003\u3000'],
    ['101 characters', 'x'.repeat(101)],
    ['101 emoji', '\u{1f40e}'.repeat(101)],
    ['101 code points with variation selectors', `${'a\ufe0f'.repeat(50)}b`],
    ['a line break', 'Engines\nadmin: true'],
    ['NUL', 'Engines\u0000'],
    ['escape', 'Engines\u001b[31m'],
    ['a C1 control', 'Engines\u0085x'],
    ['a lone surrogate', 'Engines\ud800'],
    ['10,000 characters', 'x'.repeat(10_000)],
  ])('refuses a name that is %s', async (_what, name) => {
    expect(await create(name)).toMatchObject(invalidFields('name'));
  });

  it('ignores unknown fields, and never binds them', async () => {
    const [eve, theirs] = [await anAccount(service, 'eve'), await anOrgOf(ada, 'Theirs')];

    const { status, body } = await eve.post<{ org: Org }>('/api/orgs', {
      name: 'Mine',
      id: theirs.id,
      ownerId: ada.id,
      userId: ada.id,
      revision: 99,
      createdAt: 0,
      members: [{ userId: ada.id, role: 'owner' }],
    });

    expect(status).toBe(201);
    expect(body.org.id).not.toBe(theirs.id);
    expect(await membersOf(eve, body.org)).toEqual([{ userId: eve.id, email: eve.email, role: 'owner' }]);
    expect((await ada.get(`/api/orgs/${theirs.id}`)).body).toMatchObject({ org: { name: 'Theirs' } });
  });
});

describe('reading an organization', () => {
  it('shows it and its members to every member, and to no other user', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    const members = Object.entries({ owner, admin, member }).map(([role, { id, email }]) => ({
      userId: id,
      email,
      role,
    }));

    for (const insider of [owner, admin, member]) {
      const { status, body } = await insider.get(`/api/orgs/${org.id}`);
      expect([status, body]).toEqual([200, { org: { ...org, members } }]);
    }
    expect(await outsider.get(`/api/orgs/${org.id}`)).toMatchObject(notAMember);
  });

  it.each([
    ['unknown', anUnknownId()],
    ['a number', '1'],
    ['zero', '0'],
    ['text', 'nonsense'],
    ['a list', '[]'],
    ['an object', '%7B%22%24ne%22%3A1%7D'],
    ['NUL', '%00'],
    ['an emoji', '%F0%9F%90%8E'],
    ['an encoded slash', '..%2f..%2fetc%2fpasswd'],
    ['SQL', "'%20OR%20'1'='1"],
    ['a wildcard', '%25'],
    ['a space', '%20'],
    ['100 characters', 'x'.repeat(100)],
    ['300 characters', 'x'.repeat(300)],
    ['__proto__', '__proto__'],
  ])('answers 404 for an id that is %s', async (_what, id) => {
    const answer = await ada.get(`/api/orgs/${id}`);

    expect(answer, answer.text).toMatchObject(orgNotFound);
    expect((await ada.get(membersPath({ id }))).status).toBe(404);
    expect((await changeRole(ada, { id }, { id }, 'admin')).status).toBe(404);
  });

  it.each<[string, (id: string) => string]>([
    ['in capitals', (id) => id.toUpperCase()],
    ['with a space after it', (id) => `${id}%20`],
    ['with text after it', (id) => `${id}x`],
    ['without its hyphens', (id) => id.replaceAll('-', '')],
    ['cut short', (id) => id.slice(0, -1)],
    ['in braces', (id) => `%7B${id}%7D`],
  ])('finds nothing under its id %s', async (_what, change) => {
    expect(await cast.owner.get(`/api/orgs/${change(cast.org.id)}`)).toMatchObject(orgNotFound);
  });
});

describe('renaming an organization', () => {
  const rename = (by: 'owner' | 'admin' | 'member', body: object) =>
    cast[by].patch(`/api/orgs/${cast.org.id}`, body);

  it.each(['admin', 'owner'] as const)('is for an %s, and seen by everybody', async (role) => {
    const name = `Named by the ${role} \u00c5`;
    const answers = [
      await rename(role, { name: `  ${name.normalize('NFD')} ` }),
      await rename(role, { name }),
    ];

    for (const { status, body } of answers)
      expect([status, body]).toEqual([200, { org: { id: cast.org.id, name } }]);
    expect((await cast.member.get(`/api/orgs/${cast.org.id}`)).body).toMatchObject({ org: { name } });
    expect((await cast.member.get('/api/me')).body).toMatchObject({ orgs: [{ name }] });
  });

  it('is refused to a member', async () => {
    expect(await rename('member', { name: 'Mine' })).toMatchObject(insufficientRole('admin', 'member'));
  });

  it.each([{}, ...['', ' ', 'x'.repeat(101), 'a\u0000b', 7, null].map((name) => ({ name }))])(
    'refuses %j',
    async (body) => {
      expect(await rename('owner', body)).toMatchObject(invalidFields('name'));
    },
  );
});
