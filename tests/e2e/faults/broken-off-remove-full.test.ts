import { describeKills } from "../harness/kill-chain";

describeKills("remove", "cli");
describeKills("remove", "provider");
describeKills("remove", "interrupted");
