import OperatorConfirmCommand from './operator/confirm.ts';
import OperatorHoldCommand from './operator/hold.ts';

export default {
  'operator:hold': OperatorHoldCommand,
  'operator:confirm': OperatorConfirmCommand,
};
