import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Env } from '../config/env.js';

export class ListenError extends Error {
  constructor(code: string | undefined) {
    super(`PORT, HOST: cannot listen there (${code})`);
  }
}

/** @throws ListenError also for an unknown host, whose error looks like that of a database */
export async function listen(app: NestFastifyApplication, { port, host }: Env): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    throw new ListenError((error as NodeJS.ErrnoException).code);
  }
}
