import { Module } from '@nestjs/common';
import { MailModule } from '../mail/mails.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { HealthController } from './health.controller.js';
import { ReadinessService } from './readiness.service.js';

@Module({
  imports: [RateLimitsModule, MailModule],
  controllers: [HealthController],
  providers: [ReadinessService],
  exports: [ReadinessService],
})
export class HealthModule {}
