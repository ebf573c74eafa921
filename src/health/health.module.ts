import { Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { HealthReadings, ReadinessService } from './readiness.js';

@Module({
  controllers: [HealthController],
  providers: [HealthReadings, ReadinessService],
  exports: [HealthReadings, ReadinessService],
})
export class HealthModule {}
