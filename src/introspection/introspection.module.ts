import { Module } from '@nestjs/common';
import { OrgStateModule } from '../orgs/state/org-state.module.js';
import { IntrospectionController } from './introspection.controller.js';
import { IntrospectionService } from './introspection.service.js';
import { MembershipsController } from './memberships.controller.js';
import { MembershipsService } from './memberships.service.js';

@Module({
  imports: [OrgStateModule],
  controllers: [IntrospectionController, MembershipsController],
  providers: [IntrospectionService, MembershipsService],
})
export class IntrospectionModule {}
