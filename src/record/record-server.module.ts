import { Module } from '@nestjs/common';
import { OrgEventsController } from './org-events.controller.js';
import { RecordModule } from './record.module.js';

/** Answers admins; commands do without it. */
@Module({ imports: [RecordModule], controllers: [OrgEventsController] })
export class RecordServerModule {}
