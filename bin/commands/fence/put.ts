import { putCommand } from '../../mission-command.ts';

export default putCommand('fence', false);
