import { ApiProperty } from '@nestjs/swagger';
import { Readiness } from '../health/health.responses.js';
import { ApiCount, ApiText, ApiTime } from '../openapi/decorators.js';

const ENGINES = ['sqlite', 'mysql', 'mariadb'] as const;
const KEY_STATES = ['signing', 'next', 'verifying'] as const;
const SCHEMA_STATES = ['current', 'newer'] as const;

export class EngineStatus {
  @ApiProperty({ enum: ENGINES, example: 'sqlite' }) name: (typeof ENGINES)[number];
  @ApiText(1, undefined, { example: '3.53.0' }) version: string;
}

export class SchemaStatus {
  /** last migration of this version */
  @ApiText(1, undefined, { example: 'CreateSchema1795219200000' }) migration: string;

  /** `newer` if an instance of a newer version has migrated the database further */
  @ApiProperty({ enum: SCHEMA_STATES, example: 'current' }) state: (typeof SCHEMA_STATES)[number];
}

export class KeyStatus {
  @ApiText(1) kid: string;

  /** `verifying` if the key signs no longer */
  @ApiProperty({ enum: KEY_STATES }) state: (typeof KEY_STATES)[number];

  /** time from which on the key signs; null if the key file does not say */
  @ApiTime({ nullable: true }) signsFrom: string | null;

  /** time after which nobody signs with the key; null for the one that signs and those that will */
  @ApiTime({ nullable: true }) signedUntil: string | null;
}

const KEY: KeyStatus = {
  kid: 'y1Qm8rJ0vJc0mYw3mQ9yq9l0Zc1o1m1b5rj3JtQ9g2E',
  state: 'signing',
  signsFrom: null,
  signedUntil: null,
};

export class MailsStatus {
  @ApiCount({ example: 0 }) waiting: number;
  @ApiCount({ example: 0 }) failed: number;
}

export class ServiceStatus extends Readiness {
  @ApiText(1, undefined, { example: '0.2.0' }) version: string;

  engine: EngineStatus;

  schema: SchemaStatus;

  /** keys of the instance that answers, in the order of the key file */
  @ApiProperty({ type: [KeyStatus], example: [KEY] }) keys: KeyStatus[];

  /** emails in the outbox */
  mails: MailsStatus;
}
