import { Module } from '@nestjs/common';
import { OrgStateModule } from '../orgs/state/org-state.module.js';
import { IntrospectionController, MembershipsController } from './introspection.controller.js';
import { IntrospectionService } from './introspection.service.js';

@Module({
  imports: [OrgStateModule],
  controllers: [IntrospectionController, MembershipsController],
  providers: [IntrospectionService],
})
export class IntrospectionModule {}
