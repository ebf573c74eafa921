import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { Operators } from '../access/access.decorators.js';
import { IdentitiesRepository } from '../auth/providers/identities.repository.js';
import { ProviderChanges, UNKNOWN_PROVIDER } from '../auth/providers/provider-changes.js';
import { ProviderDomainsRepository } from '../auth/providers/provider-domains.repository.js';
import { PROVIDER_NAME } from '../auth/providers/provider-settings.js';
import { ProvidersRepository } from '../auth/providers/providers.repository.js';
import { Env } from '../config/env.js';
import { ApiNameInPath, NamePipe, OK, OkResponse } from '../http/fields.js';
import { GatedRead } from '../http/read-gate.js';
import { ApiProblems } from '../openapi/decorators.js';
import { Problem } from '../problems/problem.js';
import { Change, Operation, type OperatorChange } from './operated-changes.js';
import { AdminProviderResponse, ProvidersResponse } from './providers.responses.js';
import { providerView } from './views.js';

const PROVIDER = new NamePipe(PROVIDER_NAME);
const ApiProviderName = (): MethodDecorator => ApiNameInPath(PROVIDER_NAME, 'Name of the provider.');

@Controller('api/operators/providers')
export class OperatorProvidersController {
  constructor(
    private readonly providers: ProvidersRepository,
    private readonly domains: ProviderDomainsRepository,
    private readonly identities: IdentitiesRepository,
    private readonly changes: ProviderChanges,
    private readonly env: Env,
  ) {}

  /**
   * List providers
   *
   * @remarks Returns all providers in order of their names, disabled ones included. The command line adds and changes them.
   */
  @Get()
  @Operators()
  @GatedRead()
  async adminListProviders(): Promise<ProvidersResponse> {
    const providers = await this.providers.findAll();
    const domains = await this.domains.findOfAll(providers.map(({ id }) => id));
    return { providers: providers.map((provider) => providerView(provider, domains, this.env)) };
  }

  /**
   * Get a provider
   *
   * @remarks Returns a provider, its settings, and how many users are linked. No response contains the client secret.
   */
  @Get(':name')
  @Operators()
  @ApiProviderName()
  @ApiProblems(UNKNOWN_PROVIDER)
  async adminGetProvider(@Param('name', PROVIDER) name: string): Promise<AdminProviderResponse> {
    const provider = await this.providers.find(name);
    if (!provider) throw new Problem(UNKNOWN_PROVIDER.code, { detail: UNKNOWN_PROVIDER.detail });
    const domains = await this.domains.findOfAll([provider.id]);
    const users = await this.identities.count(provider.id);
    return { provider: { ...providerView(provider, domains, this.env), users } };
  }

  /**
   * Disable a provider
   *
   * @remarks Disables a provider: users cannot log in there, and it requires no login any longer. Existing sessions
   * continue.
   *
   * A disabled provider stays disabled.
   */
  @Post(':name/disable')
  @HttpCode(200)
  @Operation(UNKNOWN_PROVIDER)
  @ApiProviderName()
  adminDisableProvider(
    @Param('name', PROVIDER) name: string,
    @Change() { actor }: OperatorChange,
  ): Promise<OkResponse> {
    return this.changes.disable(name, actor).then(() => OK);
  }

  /**
   * Enable a provider
   *
   * @remarks Enables a disabled provider, without a test of it.
   *
   * A provider that is not disabled stays enabled.
   */
  @Post(':name/enable')
  @HttpCode(200)
  @Operation(UNKNOWN_PROVIDER)
  @ApiProviderName()
  adminEnableProvider(
    @Param('name', PROVIDER) name: string,
    @Change() { actor }: OperatorChange,
  ): Promise<OkResponse> {
    return this.changes.enable(name, actor).then(() => OK);
  }
}
