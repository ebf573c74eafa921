import { Controller, Get } from '@nestjs/common';
import { Liveness, Readiness } from './health.responses.js';
import { ReadinessService } from './readiness.js';
import { Public } from '../access/access.decorators.js';
import { ApiProblems } from '../openapi/decorators.js';

@Controller('health')
export class HealthController {
  constructor(private readonly readiness: ReadinessService) {}

  /**
   * Check liveness
   *
   * @remarks Returns 200 while the process runs. It checks nothing else, so that a database outage does not restart
   * the process.
   */
  @Get('live')
  @Public('operators')
  getLiveness(): Liveness {
    return { status: 'ok' };
  }

  /**
   * Check readiness
   *
   * @remarks Returns 200 if the database answers, its schema is up to date, and the process is not shutting down. Returns
   * 503 if other instances can serve and the clock of this instance is wrong by more than 15 seconds, or most instances
   * have other signing keys.
   */
  @Get('ready')
  @Public('operators')
  @ApiProblems({ code: 'unavailable', detail: 'The database cannot be reached.' })
  getReadiness(): Promise<Readiness> {
    return this.readiness.check();
  }
}
