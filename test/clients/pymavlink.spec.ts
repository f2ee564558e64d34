import { describeClient } from './describe-client.ts';
import type { Expected } from './side-by-side.ts';

const DENIED: Expected = { node: 'PERMISSION_DENIED' };
const UNSUPPORTED: Expected = { straight: 'UNSUPPORTED' };
const BUSY: Expected = { straight: ['FAILED', 'TEMPORARILY_REJECTED'] };
/** A calibration while armed: the node refuses it before the vehicle does. */
const CALIBRATION: Expected = { ...BUSY, node: 'DENIED' };

describeClient(
  { driver: 'pymavlink_client', needs: ['pymavlink'], limit: 110 },
  {
    'rate of the mission': { straight: ['ok', 'FAILED'] },
    'write an unknown parameter': { straight: ['silence', 'DOES_NOT_EXIST'] },
    folder: { straight: 'Fail' }, // its own way to say that it has come to the end of the list
    camera: { only: 'node' },
    photo: { only: 'node' },
    'take off before arming': { straight: ['FAILED', 'ok'] },
    'write a parameter 0 s after arming': DENIED,
    'write a parameter 0.1 s after arming': DENIED,
    'write a parameter 0.3 s after arming': DENIED,
    'write a parameter 0.6 s after arming': DENIED,
    'write a parameter 1.5 s after arming': DENIED,
    'write a parameter 3 s after arming': DENIED,
    'gyro calibration while armed': CALIBRATION,
    'reboot while armed': { straight: ['FAILED', 'DENIED'], node: 'DENIED' },
    'write a parameter in the air': DENIED,
    'gyro calibration in the air': CALIBRATION,
    'take off in the air': { straight: ['FAILED', 'ok'] },
    'disarm in the air': BUSY,
    'reset the parameters in the air': { straight: ['ok', 'TEMPORARILY_REJECTED'], node: 'DENIED' },
    'file upload in the air': { node: 'FileProtected' },
    'go nowhere': { straight: ['DENIED', 'ok'] },
    // MAV_RESULT 9 (COMMAND_UNSUPPORTED_MAV_FRAME), which this dialect takes for the end of the list.
    'go in a frame of the body': { straight: ['DENIED', 'ENUM_END'] },
    orbit: { straight: ['UNSUPPORTED', 'ok'] },
    turn: { straight: ['ok', 'UNSUPPORTED'] },
    'an unknown command': { straight: 'UNSUPPORTED', node: 'DENIED' }, // no token and no wire has what no table knows
    'mission from a number that it has not': { straight: ['DENIED', 'UNSUPPORTED'] },
    'pause as the other one does': UNSUPPORTED,
    'a mode that it has not': { straight: ['FAILED', 'ok'] },
    'armed in it': BUSY,
  },
);
