import { describe, expect, it } from 'vitest';
import { engine } from '../support/engine.js';
import { invalidFields, providerNotFound } from '../support/expected.js';
import { anOperator } from '../support/operators.js';
import { anAccount, anUnknownId } from '../support/personas.js';
import { insertRow, insertRows } from '../support/rows.js';
import { startService } from '../support/service.js';

const PROVIDERS = '/api/operators/providers';
const CREATED_AT = '1970-01-01T00:00:00.001Z';

const service = await startService();
const { db } = service;
const operator = await anOperator(service);

async function aProvider(
  values: { name?: string; settings?: string; required?: 1; disabled_at?: number } = {},
): Promise<Record<'id' | 'name', string>> {
  const id = anUnknownId();
  const row = { id, name: `p${id.slice(-12)}`, secret: 'encrypted', ...values };
  await insertRow(db, 'providers', row);
  return { id, name: row.name };
}

const viewOf = (name: string): object => ({
  name,
  title: 'Acme',
  issuer: 'https://login.acme.example',
  clientId: 'accounts',
  redirectUri: null,
  createdAt: CREATED_AT,
  disabledAt: null,
  domains: [],
  required: false,
  createUsers: false,
  linkByEmail: false,
  trustEmails: false,
  sameNetwork: false,
  sessionMaxAge: 86_400,
  scopes: 'openid email profile',
  emailClaim: 'email',
  subjectClaim: 'sub',
  require: null,
  params: null,
});

describe('providers over HTTP', () => {
  it('show one whose settings are damaged as such, and others beside it', async () => {
    const settings = JSON.stringify({ createUsers: 1, linkByEmail: true });
    const damaged = await aProvider({ settings });
    const sound = await aProvider();
    const { body } = await operator.get<{ providers: { name: string }[] }>(PROVIDERS);
    const ours = body.providers.filter(({ name }) => [damaged.name, sound.name].includes(name));
    const expected = { ...viewOf(damaged.name), damaged: true };
    expect(ours).toHaveLength(2);
    expect(ours).toEqual(expect.arrayContaining([expected, viewOf(sound.name)]));
    const one = await operator.get<{ provider: object }>(`${PROVIDERS}/${damaged.name}`);
    expect(one.body.provider).toEqual({ ...expected, users: 0 });
  });

  it('are listed by name with their settings, and never with the secret', async () => {
    const settings = JSON.stringify({ createUsers: true, require: { name: 'hd', value: 'acme.example' } });
    const [second, first] = [
      await aProvider({ name: 'zz-second', disabled_at: 1 }),
      await aProvider({ name: 'zz-first', settings, required: 1 }),
    ];
    const domains = ['b.example', 'a.example'].map((domain) => ({ domain: `${first.id}.${domain}` }));
    await insertRows(db, 'provider_domains', domains, { provider_id: first.id });

    const { status, body } = await operator.get<{ providers: { name: string }[] }>(PROVIDERS);

    expect(status).toBe(200);
    const ours = body.providers.filter(({ name }) => name.startsWith('zz-'));
    expect(ours).toEqual([
      {
        ...viewOf(first.name),
        domains: [`${first.id}.a.example`, `${first.id}.b.example`],
        required: true,
        createUsers: true,
        require: 'hd=acme.example',
      },
      { ...viewOf(second.name), disabledAt: CREATED_AT },
    ]);
    expect(JSON.stringify(body)).not.toContain('encrypted');
  });

  it('are shown with the number of their users', async () => {
    const { id, name } = await aProvider();
    const users = [await anAccount(service), await anAccount(service)];
    const identities = users.map((user) => ({ user_id: user.id, subject: user.id }));
    await insertRows(db, 'identities', identities, { provider_id: id });

    const { body } = await operator.get(`${PROVIDERS}/${name}`);

    expect(body).toEqual({ provider: { ...viewOf(name), users: 2 } });
  });

  it.each(['unknown', 'finish', 'Acme', 'a'.repeat(90)])('%s is unknown', async (name) => {
    expect(await operator.get(`${PROVIDERS}/${name}`)).toMatchObject(providerNotFound);
    for (const change of ['disable', 'enable'])
      expect(await operator.post(`${PROVIDERS}/${name}/${change}`, { reason: 'a test' })).toMatchObject(
        providerNotFound,
      );
  });
});

describe('the identities of a user', () => {
  it('are shown if they are asked for, by the name of the provider', async () => {
    const user = await anAccount(service);
    const [b, a] = [await aProvider({ name: 'id-b' }), await aProvider({ name: 'id-a' })];
    const identities = [b, a].map(({ id, name }) => ({ provider_id: id, subject: `Sub of ${name}` }));
    await insertRows(db, 'identities', identities, { user_id: user.id });
    const path = `/api/operators/users/${user.id}`;

    const shown = await operator.get<{ user: object }>(`${path}?include=identities`);
    const plain = await operator.get<{ user: object }>(path);

    const linkedAt = CREATED_AT;
    expect(shown.body.user).toMatchObject({
      id: user.id,
      identities: [
        { provider: 'id-a', subject: 'Sub of id-a', linkedAt },
        { provider: 'id-b', subject: 'Sub of id-b', linkedAt },
      ],
    });
    expect(Object.keys(shown.body.user)).toEqual([...Object.keys(plain.body.user), 'identities']);
    const other = await anAccount(service);
    const none = await operator.get(`/api/operators/users/${other.id}?include=identities`);
    expect(none.body).toMatchObject({ user: { identities: [] } });
  });

  it.runIf(engine === 'sqlite')('need the right word', async () => {
    const { id } = await anAccount(service);
    for (const word of ['profile', '', 'identities,profile', 'x'.repeat(100)])
      expect(await operator.get(`/api/operators/users/${id}?include=${word}`)).toMatchObject(
        invalidFields('include'),
      );
  });
});
