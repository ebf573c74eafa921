import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { AuditService } from './audit.service.js';
import { OrgEventsController } from './org-events.controller.js';
import { OwnEventsController } from './own-events.controller.js';

@Module({
  imports: [EventsModule],
  controllers: [OrgEventsController, OwnEventsController],
  providers: [AuditService],
})
export class AuditModule {}
