import { describeClient } from './describe-client.ts';
import type { Expected } from './side-by-side.ts';

/** A calibration while armed: the node refuses it before the vehicle does. */
const CALIBRATION: Expected = { straight: ['FAILED', 'TEMPORARILY_REJECTED'], node: 'DENIED' };
/** It does not know PARAM_ERROR, nor does it show texts of other components: it asks twice more and then gives up. */
const REFUSED: Expected = { node: 'invalid returned value', late: true };

describeClient(
  { driver: 'mavproxy_client', needs: ['MAVProxy'], limit: 110 },
  {
    // It does not end its download, and PX4 waits for that.
    'mission clear': { straight: ['ok', 'Busy'] },
    'mission up again': { straight: ['ok', 'ERROR'] },
    'write a parameter after arming': REFUSED,
    'gyro calibration while armed': CALIBRATION,
    'reboot while armed': { straight: ['FAILED', 'DENIED'], node: 'DENIED' },
    'write a parameter in the air': REFUSED,
    'gyro calibration in the air': CALIBRATION,
    go: { straight: ['ok', 'ENUM_END'] }, // a COMMAND_INT above home, a frame that PX4 refuses
    orbit: { straight: ['UNSUPPORTED', 'ok'] },
    'mission pause': { straight: ['ok', 'UNSUPPORTED'] },
    'mission resume': { straight: ['ok', 'UNSUPPORTED'] },
  },
);
