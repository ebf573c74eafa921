import { ApiProperty } from '@nestjs/swagger';
import { MAX_DEVICE_NAME } from '../../auth/dto/device-name.decorator.js';

const VIA = ['password', 'code'] as const;

export class OwnSession {
  @ApiProperty({ format: 'uuid' })
  id: string;

  /** whether it is the one of the token */
  @ApiProperty()
  current: boolean;

  /** opened by a login or registration, or by a one-time code */
  @ApiProperty({ enum: VIA })
  via: (typeof VIA)[number];

  @ApiProperty({ format: 'date-time' })
  createdAt: string;

  /** the last refresh, or the beginning */
  @ApiProperty({ format: 'date-time' })
  lastUsedAt: string;

  @ApiProperty({ format: 'date-time' })
  expiresAt: string;

  /** address that it was opened from; null: not noted */
  @ApiProperty({ type: String, minLength: 2, maxLength: 45, nullable: true })
  ip: string | null;

  /** what the client that opened it called itself */
  @ApiProperty({ type: String, minLength: 1, maxLength: 200, nullable: true })
  userAgent: string | null;

  /** what its user called the device when they logged in; null: not given, or opened by a code */
  @ApiProperty({ type: String, minLength: 1, maxLength: MAX_DEVICE_NAME, nullable: true })
  deviceName: string | null;
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
};

export class OwnSessionsResult {
  @ApiProperty({ type: [OwnSession], example: [EXAMPLE] })
  sessions: OwnSession[];
}
