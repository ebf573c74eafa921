import { ApiProperty } from '@nestjs/swagger';
import { EventsPage, WholeEvent } from '../events/events.responses.js';

const MEMBER_ADDED = {
  id: '019a8f3e-9e50-7c43-8e6f-8a0b2c4d5e6f',
  type: 'member.added',
  at: '2026-11-22T09:30:00.000Z',
  actor: {
    type: 'user',
    id: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f',
    sessionId: '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e',
  },
  orgId: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c',
  orgRevision: 2,
  userId: '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d',
  userRevision: null,
  sessionId: null,
  data: { role: 'member', via: 'added' },
  ip: '198.51.100.7',
  requestId: '2f6c1a0e-6a1b-4a53-9b57-0c6b4f5d3a11',
  reason: null,
};

export class RecordResult extends EventsPage {
  @ApiProperty({ type: [WholeEvent], example: [MEMBER_ADDED] })
  events: WholeEvent[];
}
