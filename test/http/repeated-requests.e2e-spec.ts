import { afterAll, describe, expect, it } from 'vitest';
import { connect } from 'node:net';
import { emailTaken, memberNotFound } from '../support/expected.js';
import { anEmail, anOrg, aPassword } from '../support/personas.js';
import { requestBytes } from '../support/raw-connection.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('a request that is sent again', () => {
  it('after a lost answer to a registration finds the account created', async () => {
    const credentials = { email: anEmail(), password: aPassword() };
    service.installation.secrets.note(credentials.password);
    await sendAndHangUp(credentials);

    const again = await service.anyone.post('/api/auth/register', credentials);

    expect(again).toMatchObject(emailTaken);
    expect((await service.anyone.post('/api/auth/login', credentials)).status).toBe(200);
  });

  it('finds a member removed and a role set', async () => {
    const { org, owner, admin, member } = await anOrg(service);
    const remove = () => owner.delete(`/api/orgs/${org.id}/members/${member.id}`);
    const demote = () => owner.patch(`/api/orgs/${org.id}/members/${admin.id}`, { role: 'member' });

    expect([(await remove()).status, (await demote()).status, (await demote()).status]).toEqual([
      200, 200, 200,
    ]);
    expect(await remove()).toMatchObject(memberNotFound);
  });

  /**
   * Disconnects at the first byte of the answer: the service has done its work and the client does not know.
   */
  function sendAndHangUp(body: object): Promise<void> {
    const { port, hostname } = new URL(service.url);
    const json = JSON.stringify(body);
    const head = ['Content-Type: application/json', `Content-Length: ${json.length}`];
    return new Promise((done, failed) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write(requestBytes('POST /api/auth/register', head, json)),
      );
      socket.once('data', () => socket.resetAndDestroy());
      socket.once('error', failed);
      socket.once('close', () => done());
    });
  }
});
