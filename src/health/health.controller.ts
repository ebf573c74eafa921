import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../access/access.decorators.js';
import { ApiProblems } from '../openapi/api-problems.decorator.js';
import { LiveResponse, ReadyResponse } from './health.responses.js';
import { ReadinessService } from './readiness.service.js';

@ApiTags('Health')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: ReadinessService) {}

  /** Whether the process runs; asks nothing else */
  @Get('live')
  @Public()
  getLive(): LiveResponse {
    return { status: 'ok' };
  }

  /** Whether requests can be served: the database answers, its schema is up to date, no shutdown is under way */
  @Get('ready')
  @Public()
  @ApiProblems('unavailable')
  getReady(): Promise<ReadyResponse> {
    return this.readiness.check();
  }
}
