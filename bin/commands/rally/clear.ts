import { clearCommand } from '../../mission-command.ts';

export default clearCommand('rally');
