import KnownNodesAddCommand from './known-nodes/add.ts';
import KnownNodesForgetCommand from './known-nodes/forget.ts';
import KnownNodesListCommand from './known-nodes/list.ts';

export default {
  'known-nodes:list': KnownNodesListCommand,
  'known-nodes:add': KnownNodesAddCommand,
  'known-nodes:forget': KnownNodesForgetCommand,
};
