import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { ValidationProblem } from '../../problems/problem.js';
import { ServicesRepository } from '../../services/services.repository.js';
import type { BoundCodeResult, CodeResult } from '../auth.responses.js';
import type { IssueCodeRequest } from '../auth.requests.js';
import { AudienceRequiredError, NO_SERVICE } from './codes.errors.js';
import { CodesService } from './codes.service.js';

@Injectable()
export class CodeIssuingService {
  constructor(
    private readonly codes: CodesService,
    private readonly services: ServicesRepository,
    private readonly env: Env,
  ) {}

  /**
   * Whether the service is enabled is asked for the client's sake: an exchange asks again.
   * @throws AudienceRequiredError, ValidationProblem, InvalidTokenError
   */
  async issue(
    sessionId: string,
    { codeChallenge: challenge, audience }: IssueCodeRequest,
  ): Promise<CodeResult | BoundCodeResult> {
    if (audience === undefined) {
      if (this.env.codeAudience === 'required') throw new AudienceRequiredError();
      const { code } = await this.codes.issue(sessionId, { challenge });
      return { code };
    }
    if (!(await this.services.isEnabled(audience))) {
      throw new ValidationProblem([{ field: 'audience', message: NO_SERVICE }]);
    }
    const { code, expiresAt } = await this.codes.issue(sessionId, { challenge, audience });
    return { code, expiresAt: new Date(expiresAt).toISOString(), audience };
  }
}
