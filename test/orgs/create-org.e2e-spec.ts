import { afterAll, describe, expect, it } from 'vitest';
import { anId, invalidFields } from '../support/expected.js';
import { anAccount, anOrgOf, type Org } from '../support/personas.js';
import { startService } from '../support/service.js';

const service = await startService();
const ada = await anAccount(service, 'ada');
afterAll(() => service.stop());

describe('POST /api/orgs', () => {
  const create = (name: unknown) => ada.post<{ org: Org }>('/api/orgs', { name });

  it('creates an organization that the creator owns', async () => {
    const answer = await create('Analytical Engines');

    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ org: { id: anId, name: 'Analytical Engines' } });
    const members = await ada.get(`/api/orgs/${answer.body.org.id}/members`);
    expect(members.body).toEqual({ members: [{ userId: ada.id, email: ada.email, role: 'owner' }] });
  });

  it('allows two organizations with one name', async () => {
    expect((await anOrgOf(ada, 'Twins')).id).not.toBe((await anOrgOf(ada, 'Twins')).id);
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
    const answer = await create(name);

    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.org.name).toBe(kept);
    expect((await ada.get(`/api/orgs/${answer.body.org.id}`)).body).toMatchObject({ org: { name: kept } });
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

    const answer = await eve.post<{ org: Org }>('/api/orgs', {
      name: 'Mine',
      id: theirs.id,
      ownerId: ada.id,
      userId: ada.id,
      revision: 99,
      createdAt: 0,
      members: [{ userId: ada.id, role: 'owner' }],
    });

    expect(answer.status).toBe(201);
    expect(answer.body.org.id).not.toBe(theirs.id);
    expect((await eve.get(`/api/orgs/${answer.body.org.id}/members`)).body).toEqual({
      members: [{ userId: eve.id, email: eve.email, role: 'owner' }],
    });
    expect((await ada.get(`/api/orgs/${theirs.id}`)).body).toMatchObject({ org: { name: 'Theirs' } });
  });
});
