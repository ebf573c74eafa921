import { Module } from '@nestjs/common';
import { DirectoryController } from './directory.controller.js';
import { IntrospectionController, MembershipsController } from './introspection.controller.js';
import { ServiceTokensController } from './service-tokens.controller.js';
import { ServiceTokens } from './service-tokens.service.js';

@Module({
  controllers: [IntrospectionController, ServiceTokensController, MembershipsController, DirectoryController],
  providers: [ServiceTokens],
})
export class IntrospectionModule {}
