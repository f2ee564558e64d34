import { postureCommand } from '../../token-posture.ts';

export default postureCommand(true);
