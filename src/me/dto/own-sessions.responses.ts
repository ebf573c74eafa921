import { ApiProperty } from '@nestjs/swagger';
import { MAX_DEVICE_NAME } from '../../auth/dto/device-name.decorator.js';

const VIA = ['password', 'code'] as const;

export class ListedSession {
  @ApiProperty({ format: 'uuid' })
  id: string;

  /** `password` if a login or registration opened the session, `code` if a one-time code did */
  @ApiProperty({ enum: VIA })
  via: (typeof VIA)[number];

  @ApiProperty({ format: 'date-time' })
  createdAt: string;

  /** time of the last refresh, or of the start if there was none */
  @ApiProperty({ format: 'date-time' })
  lastUsedAt: string;

  @ApiProperty({ format: 'date-time' })
  expiresAt: string;

  /** client address that opened the session; null if it is unknown */
  @ApiProperty({ type: String, minLength: 2, maxLength: 45, nullable: true })
  ip: string | null;

  /** `User-Agent` of the client that opened the session; null if it is unknown */
  @ApiProperty({ type: String, minLength: 1, maxLength: 200, nullable: true })
  userAgent: string | null;

  /** the user's name for the device, given at login; null if none was given or a code opened the session */
  @ApiProperty({ type: String, minLength: 1, maxLength: MAX_DEVICE_NAME, nullable: true })
  deviceName: string | null;

  /** name of the service that exchanged the code with its credentials; null if none did */
  @ApiProperty({ type: String, minLength: 1, maxLength: 40, nullable: true })
  service: string | null;
}

export class OwnSession extends ListedSession {
  /** whether this is the session of the token */
  @ApiProperty()
  current: boolean;
}

const EXAMPLE: OwnSession = {
  id: '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e',
  current: true,
  via: 'password',
  createdAt: '2026-11-22T09:00:00.000Z',
  lastUsedAt: '2026-11-22T09:30:00.000Z',
  expiresAt: '2026-12-06T09:30:00.000Z',
  ip: '198.51.100.7',
  userAgent: 'Analytical Desktop/1.4 (Linux)',
  deviceName: "Ada's laptop",
  service: null,
};

export class OwnSessionsResult {
  @ApiProperty({ type: [OwnSession], example: [EXAMPLE] })
  sessions: OwnSession[];
}
