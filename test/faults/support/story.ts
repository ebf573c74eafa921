import { expect } from 'vitest';
import type { Answer } from '../../support/answer.js';
import { examine } from '../../support/accounts-command.js';
import type { Installation } from '../../support/installation.js';
import { MailServer } from '../../support/mail-server.js';
import { GaleraService } from './galera-service.js';

/** Where a story is lived through: three instances, each with a node of its own, and what they mail. */
export interface Stage {
  galera: GaleraService;
  mailServer: MailServer;
  close(): Promise<void>;
}

/** @param knowAll see GaleraService */
export async function aStage({ knowAll = false } = {}): Promise<Stage> {
  const mailServer = await MailServer.start();
  const galera = await GaleraService.start({ env: mailServer.env, knowAll });
  const close = async (): Promise<void> => {
    await galera.stop();
    await mailServer.stop();
  };
  return { galera, mailServer, close };
}

/** The body of an answer that must have that status. */
export function done<T>(answer: Answer<T>, status = 200): T {
  expect(answer.status, answer.text).toBe(status);
  return answer.body;
}

/** The doctor finds no fault in what the story left. */
export async function expectHealthy(installation: Installation): Promise<void> {
  const { code, lines, errors } = await examine(installation);
  expect(lines, errors).not.toContainEqual(expect.stringMatching(/^fault/i));
  expect(code).toBe(0);
}
