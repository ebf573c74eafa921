import { Module } from '@nestjs/common';
import { RateLimitStoreModule } from '../rate-limits/rate-limit-store.module.js';
import { HealthController } from './health.controller.js';
import { ReadinessService } from './readiness.service.js';

@Module({ imports: [RateLimitStoreModule], controllers: [HealthController], providers: [ReadinessService] })
export class HealthModule {}
