#include "consumer.hpp"
