import { Module } from '@nestjs/common';
import { OrgEventsController } from './events.controller.js';
import { RecordModule } from './events.module.js';

/** Answers admins; commands do without it. */
@Module({ imports: [RecordModule], controllers: [OrgEventsController] })
export class RecordServerModule {}
